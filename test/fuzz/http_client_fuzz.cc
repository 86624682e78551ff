// Whatever a server answers over HTTP/1.1 or HTTP/2, each exchange ends at most once, none of its
// events comes after that, and bodies are no larger than what was received.
//
// The first byte chooses the protocol and whether exchanges are aborted, the second how the bytes
// are cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/protocol.h"

namespace {

using namespace berth::net;

void Demand(bool holds) {
  if (!holds) std::abort();
}

class Client : public ExchangeEvents {
 public:
  Client(bool http2, size_t pipeline, unsigned abort_every)
      : abort_every_(abort_every), form_{"https", "host", "", "", {}, pipeline} {
    protocol_ = http2 ? MakeHttp2(form_, *this) : MakeHttp1(form_, *this);
  }

  void Start() {
    while (started_.size() < kExchanges && protocol_->Limit() > open_.size()) {
      auto exchange = std::make_unique<Exchange>();
      const bool post = started_.size() % 2 == 1;
      exchange->request = {
          post ? "POST" : "GET", "/path", {{"a", "b"}}, std::string(post ? 100 : 0, 'x')};
      open_.insert(exchange.get());
      protocol_->Start(*exchange);
      started_.push_back(std::move(exchange));
    }
    std::string out;
    protocol_->Produce(out, 1 << 20);
  }

  void Receive(std::string_view bytes) {
    protocol_->Receive(bytes);
    Start();
  }

  void End(bool proper) {
    protocol_->ReceiveEnd({HttpError::Kind::kBroken, "EOF"}, proper);
    // What is left now is failed by the owner of the protocol, once.
    open_.clear();
  }

  size_t body_bytes = 0;

 private:
  static constexpr size_t kExchanges = 8;

  void Close(Exchange& exchange) { Demand(open_.erase(&exchange) == 1); }
  void MaybeAbort(Exchange& exchange) {
    if (abort_every_ == 0 || ++events_ % abort_every_ != 0) return;
    Close(exchange);
    protocol_->Abort(exchange);
  }
  void OnAnswer(Exchange& exchange) override {
    Demand(open_.contains(&exchange));
    MaybeAbort(exchange);
  }
  void OnBody(Exchange& exchange, std::string_view bytes) override {
    Demand(open_.contains(&exchange));
    body_bytes += bytes.size();
    MaybeAbort(exchange);
  }
  void OnEnd(Exchange& exchange) override { Close(exchange); }
  void OnFailure(Exchange& exchange, HttpError, bool) override { Close(exchange); }

  const unsigned abort_every_;
  const RequestForm form_;
  unsigned events_ = 0;
  std::set<Exchange*> open_;
  std::vector<std::unique_ptr<Exchange>> started_;
  std::unique_ptr<Protocol> protocol_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const bool http2 = (data[0] & 1) != 0;
  Client client(http2, (data[0] & 2) != 0 ? 4 : 1, (data[0] >> 2) % 8);
  client.Start();
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t received = bytes.size();
  const size_t piece = data[1] == 0 ? bytes.size() : data[1];
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    client.Receive(part);
  }
  client.End((data[0] & 128) != 0);
  Demand(client.body_bytes <= received);
  return 0;
}
