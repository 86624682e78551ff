// HttpClient: requests to one server, many at a time.
//
// Over TLS it speaks HTTP/2 when the server does (ALPN) and HTTP/1.1 otherwise; plain http:// is
// HTTP/1.1. Connections are kept and made anew when they break; dead ones are found by pings.
// Watches live on a connection of their own, so that a flood of requests does not hold them up.
//
// On the loop's thread only. Callbacks come from the loop, never from inside a call, once per
// request, and not at all after Cancel or after the client is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/http/message.h"
#include "net/loop.h"

namespace berth::net {

// Who the server is and who we are.
struct TlsOptions {
  std::string ca_pem = {};           // empty: the system's certificates
  std::string client_cert_pem = {};  // with its key, or both empty
  std::string client_key_pem = {};
  std::string server_name = {};  // for SNI and the certificate's check; empty: the host of the URL
  bool insecure = false;         // take any certificate

  bool operator==(const TlsOptions&) const = default;
};

struct HttpClientOptions {
  std::string url;  // scheme://host[:port]; a path is ignored
  TlsOptions tls = {};
  // http://, https:// or socks5:// proxy with optional user:password@; empty: what HTTPS_PROXY,
  // HTTP_PROXY and NO_PROXY say.
  std::string proxy_url = {};
  size_t max_connections = 2;  // besides the one for streams
  // The same over HTTP/1.1, where a request that hangs holds a connection; 0: max_connections. When
  // even these hang, requests that wait get up to kMostConnections after a second.
  size_t http1_connections = 0;
  size_t max_response_bytes = 1ull << 31;  // of Send
  // Changes speed: how long a body will be, going by its first bytes, for answers whose headers do
  // not tell; 0: unknown. Null: nobody knows.
  size_t (*body_size)(std::string_view first_bytes) = nullptr;
  Nanoseconds connect_timeout = std::chrono::seconds(30);
  bool http2 = true;
  // Requests on their way at a time over one connection of HTTP/1.1. More than one is for a server
  // that is known to answer in order requests that come together.
  size_t pipeline = 1;
  // Changes what responses hold, to save time: the headers (lower case) anybody will look at.
  // Empty: all. An HTTP/1.1 response has all in any case.
  std::vector<std::string> kept_headers = {};
  // An HTTP/2 server that was silent for `ping_idle` is asked for a sign of life; when none comes
  // in `ping_timeout` the connection is given up. Connections without exchanges close in the end.
  Nanoseconds ping_idle = std::chrono::seconds(30);
  Nanoseconds ping_timeout = std::chrono::seconds(15);
  Nanoseconds idle_timeout = std::chrono::seconds(90);
};

// Receives a response piece by piece.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void OnResponse(int status, const std::vector<Header>& headers) = 0;
  virtual void OnData(std::string_view bytes) = 0;
  // The last call. Null: the server ended the body properly.
  virtual void OnDone(const HttpError* error) = 0;
};

class HttpClient {
 public:
  using Id = uint64_t;  // never 0
  using Callback = std::function<void(tl::expected<HttpResponse, HttpError>)>;

  virtual ~HttpClient() = default;

  // `timeout` 0: none.
  virtual Id Send(HttpRequest request, Nanoseconds timeout, Callback done) = 0;
  // `sink` outlives the stream: until OnDone or Cancel.
  virtual Id Stream(HttpRequest request, StreamSink* sink) = 0;
  virtual void Cancel(Id id) = 0;
  // New connections use these certificates; old ones finish what they carry and close.
  virtual Result<void> SetTls(const TlsOptions& tls) = 0;
};

// Refuses bad URLs, certificates and keys. `loop` outlives the client.
Result<std::unique_ptr<HttpClient>> MakeHttpClient(SystemLoop& loop, HttpClientOptions options);

}  // namespace berth::net
