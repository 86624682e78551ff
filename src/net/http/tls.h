// TLS as a machine of bytes: ciphertext in and out, plaintext out and in; no sockets.
//
// Certificates are judged as Go judges them (the subject's common name does not count, any
// certificate among the trusted ones ends a chain), and errors are in the words of Go's crypto/tls.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http/byte_buffer.h"
#include "net/http/http_client.h"

namespace berth::net {

// Certificates and keys, ready for any number of connections. Immutable.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
};

Result<std::shared_ptr<const TlsContext>> MakeTlsContext(const TlsOptions& options);

// The client's side of one connection.
class TlsLayer {
 public:
  enum class State { kHandshake, kOpen, kClosed /* by the peer, properly */, kFailed };

  virtual ~TlsLayer() = default;
  // Takes ciphertext, appends what it says to `plain`. The first call, with nothing, starts the
  // handshake. What must be sent is in Output.
  virtual State Receive(std::string_view wire, ByteBuffer& plain) = 0;
  // REQUIRES: open.
  virtual bool Send(std::string_view plain) = 0;
  // Says good-bye.
  virtual void Shutdown() = 0;
  // To be sent; the caller empties it.
  virtual std::string& Output() = 0;
  // Whether the peer chose HTTP/2.
  virtual bool Http2() const = 0;
  // After kFailed, or when Send failed.
  virtual const std::string& Failure() const = 0;
};

// `host` is what the certificate must be for, unless the context names another.
std::unique_ptr<TlsLayer> MakeTlsLayer(std::shared_ptr<const TlsContext> context,
                                       const std::string& host, bool offer_http1, bool offer_http2);

}  // namespace berth::net
