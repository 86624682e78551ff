// Whatever a client sends over HTTP/2, each request is handled once and within its bounds, and
// targets of requests are decoded or refused.
//
// The first byte chooses how the server is set up, the second how the bytes are cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/http/http2.h"

namespace {

using namespace berth::server;

constexpr size_t kMaxBody = 512;

void Demand(bool holds) {
  if (!holds) std::abort();
}

void TryTarget(std::string_view text) {
  std::string path;
  std::string query;
  if (!ParseTarget(text, &path, &query)) return;
  Demand(path.size() + query.size() <= text.size());
  for (const std::string& value : QueryValues(query, "limit")) Demand(value.size() < text.size());
}

// Handlers of the first requests answer at once, the others when the connection has received all.
class Server {
 public:
  explicit Server(unsigned setup) : at_once_(setup % 4) {
    Http2Options options;
    options.max_streams = 4;
    options.max_header_bytes = 4096;
    options.max_body_bytes = kMaxBody;
    if ((setup & 16) != 0) {
      options.admit = [](const Request& request) -> std::optional<Response> {
        if (request.Header("authorization").empty()) return Response{401, {}, "no"};
        return std::nullopt;
      };
    }
    http2_ = Http2::Make(
        std::move(options),
        [this](Request request, Respond respond) {
          Handle(std::move(request), std::move(respond));
        },
        [] {});
    Demand(http2_ != nullptr);
  }
  ~Server() { http2_->Close(); }

  void Receive(std::string_view bytes) {
    http2_->Receive(bytes);
    Demand(http2_->Busy() <= http2_->Streams());
    Produce();
  }

  void End(unsigned how) {
    for (Respond& respond : std::exchange(waiting_, {})) respond({200, {}, "later"});
    Produce();
    if ((how & 32) != 0) http2_->DropIncomplete();
    if ((how & 64) != 0) http2_->Expire(Http2::Clock::time_point::max());
    http2_->Finish();
    Produce();
  }

 private:
  void Handle(Request request, Respond respond) {
    Demand(request.body.size() <= kMaxBody);
    if (++handled_ <= at_once_) {
      respond({200, {{"Content-Type", "text/plain"}}, std::move(request.path)});
    } else {
      waiting_.push_back(std::move(respond));
    }
  }
  void Produce() {
    std::string out;
    http2_->Produce(out, 1 << 20);
  }

  const unsigned at_once_;
  unsigned handled_ = 0;
  std::vector<Respond> waiting_;
  std::shared_ptr<Http2> http2_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  TryTarget(bytes);
  Server server(data[0]);
  if ((data[0] & 128) != 0) server.Receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const size_t piece = data[1] == 0 ? bytes.size() : data[1];
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    server.Receive(part);
  }
  server.End(data[0]);
  return 0;
}
