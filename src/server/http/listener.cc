// The listener over Asio. HTTP itself is in its sessions.
#include "server/http/listener.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/http/session.h"

namespace berth::server {
namespace {

std::string LowerFirst(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

class AsioListener final : public Listener {
 public:
  AsioListener(asio::io_context& io, std::shared_ptr<Shared> shared)
      : io_(io), acceptor_(io), retry_(io), force_(io), shared_(std::move(shared)) {}

  Result<void> Open(const ServingOptions& options) {
    const int port = options.any_port ? 0 : options.port;
    error_code error;
    const auto address = asio::ip::make_address(options.bind_address, error);
    const std::string where = HostPort(options.bind_address, port);
    std::string call = "lookup";
    // Unspecified: both families, where the system has both.
    if (!error && address.is_unspecified()) {
      call = OpenOn({asio::ip::address_v6::any(), static_cast<uint16_t>(port)}, options, error);
      if (!error || error == asio::error::address_in_use || error == asio::error::access_denied) {
        return Check(error, where, call);
      }
      error.clear();
    }
    if (!error) call = OpenOn({address, static_cast<uint16_t>(port)}, options, error);
    return Check(error, where, call);
  }

  int Port() const override { return port_; }
  std::string Address() const override { return address_; }

  void Start() override { Accept(); }

  void Stop(std::function<void()> done) override {
    shared_->stopping = true;
    shared_->drained = std::move(done);
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    const std::vector<Session*> sessions(shared_->sessions.begin(), shared_->sessions.end());
    for (Session* session : sessions) session->Finish();
    force_.expires_after(shared_->options.shutdown_timeout);
    force_.async_wait([shared = shared_](error_code error) {
      if (error) return;
      const std::vector<Session*> left(shared->sessions.begin(), shared->sessions.end());
      for (Session* session : left) session->Abort();
      // A request whose handler never answers holds its session: it is not waited for.
      if (!shared->drained) return;
      const auto call = std::move(shared->drained);
      shared->drained = nullptr;
      call();
    });
    asio::post(io_, [shared = shared_] { shared->MaybeDrained(); });
  }

 private:
  // The name of the call that failed, for the error.
  std::string OpenOn(const tcp::endpoint& endpoint, const ServingOptions& options,
                     error_code& error) {
    error.clear();
    error_code ignored;
    if (acceptor_.is_open()) acceptor_.close(ignored);
    acceptor_.open(endpoint.protocol(), error);
    if (error) return "socket";
    acceptor_.set_option(asio::socket_base::reuse_address(true), ignored);  // as Go does
    if (endpoint.address().is_v6() && endpoint.address().is_unspecified()) {
      acceptor_.set_option(asio::ip::v6_only(false), ignored);
    }
    if (options.reuse_port) {
      using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
      acceptor_.set_option(ReusePort(true), ignored);
    }
    acceptor_.bind(endpoint, error);
    if (error) return "bind";
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return "listen";
    const tcp::endpoint local = acceptor_.local_endpoint(error);
    port_ = local.port();
    address_ = HostPort(local.address().to_string(), port_);
    return "";
  }

  static Result<void> Check(const error_code& error, const std::string& where,
                            const std::string& call) {
    if (!error) return {};
    return Fail("failed to create listener: failed to listen on " + where + ": listen tcp " +
                where + ": " + call + ": " + LowerFirst(error.message()));
  }

  static bool IsOutOfDescriptors(const error_code& error) {
    return error == asio::error::no_descriptors ||
           error == boost::system::errc::too_many_files_open_in_system;
  }

  void Accept() {
    acceptor_.async_accept([this, shared = shared_](error_code error, tcp::socket socket) {
      if (shared->stopping || error == asio::error::operation_aborted) return;
      if (error) {
        if (IsOutOfDescriptors(error) && shared->MakeRoom()) return Accept();
        if (error == asio::error::connection_aborted) return Accept();
        // Give others the time to close some.
        retry_.expires_after(std::chrono::milliseconds(100));
        retry_.async_wait([this, shared](error_code cancelled) {
          if (!cancelled && !shared->stopping) Accept();
        });
        return;
      }
      if (shared->sessions.size() < shared->options.max_connections || shared->MakeRoom()) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Session>(std::move(socket), shared)->Run();
      }
      Accept();
    });
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_;
  asio::steady_timer force_;
  std::shared_ptr<Shared> shared_;
  int port_ = 0;
  std::string address_;
};

}  // namespace

namespace {

Result<std::unique_ptr<Listener>> Open(net::SystemLoop& loop, const ServingOptions& options,
                                       const ServingCertificates* certificates, Handler handler) {
  auto shared = std::make_shared<Shared>();
  shared->options = options;
  shared->certificates = certificates;
  shared->handler = std::move(handler);
  auto* io = static_cast<asio::io_context*>(loop.Native());
  auto listener = std::make_unique<AsioListener>(*io, std::move(shared));
  if (auto ok = listener->Open(options); !ok) return Fail(ok.error());
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::Make(net::SystemLoop& loop,
                                                 const ServingOptions& options,
                                                 const ServingCertificates& certificates,
                                                 Handler handler) {
  return Open(loop, options, &certificates, std::move(handler));
}

Result<std::unique_ptr<Listener>> Listener::MakePlain(net::SystemLoop& loop,
                                                      const ServingOptions& options,
                                                      Handler handler) {
  return Open(loop, options, nullptr, std::move(handler));
}

}  // namespace berth::server
