// The protocols as machines of bytes: whatever comes in, every exchange ends once and nothing
// breaks.
#include "net/http/protocol.h"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "base/random.h"

namespace berth::net {
namespace {

// Keeps count of exchanges, and aborts some of them from inside.
class Tester : public ExchangeEvents {
 public:
  Tester(bool http2, Random& random, size_t pipeline = 1)
      : form_{"https", "host", "", "", {}, pipeline},
        random_(random),
        protocol_(http2 ? MakeHttp2(form_, *this) : MakeHttp1(form_, *this)) {}

  void Start(int count) {
    for (int i = 0; i < count && protocol_->Limit() > going_.size(); ++i) {
      auto exchange = std::make_unique<Exchange>();
      exchange->request = {i % 2 == 0 ? "GET" : "POST",
                           "/path",
                           {{"a", "b"}},
                           std::string(i % 2 == 0 ? 0 : 100, 'x')};
      going_.insert(exchange.get());
      protocol_->Start(*exchange);
      all_.push_back(std::move(exchange));
    }
    Drain();
  }

  void Feed(std::string_view input) {
    while (!input.empty()) {
      const size_t part = 1 + random_.Below(input.size());
      protocol_->Receive(input.substr(0, part));
      input.remove_prefix(part);
      Drain();
    }
  }

  void End() {
    const HttpError end{HttpError::Kind::kBroken, "EOF"};
    protocol_->ReceiveEnd(end, random_.Below(2) == 0);
    protocol_->ReceiveEnd(end, true);
  }

  size_t ended = 0;
  size_t bytes = 0;

 private:
  void Drain() {
    std::string out;
    protocol_->Produce(out, 1 << 20);
  }
  void Forget(Exchange& exchange) {
    ASSERT_EQ(going_.erase(&exchange), 1u) << "ended twice";
    ++ended;
  }
  void MaybeAbort(Exchange& exchange) {
    if (random_.Below(4) != 0) return;
    Forget(exchange);
    protocol_->Abort(exchange);
  }
  void OnAnswer(Exchange& exchange) override {
    ASSERT_TRUE(going_.contains(&exchange));
    MaybeAbort(exchange);
  }
  void OnBody(Exchange& exchange, std::string_view data) override {
    ASSERT_TRUE(going_.contains(&exchange));
    bytes += data.size();
    MaybeAbort(exchange);
  }
  void OnEnd(Exchange& exchange) override { Forget(exchange); }
  void OnFailure(Exchange& exchange, HttpError, bool) override { Forget(exchange); }

  const RequestForm form_;
  Random& random_;
  std::set<Exchange*> going_;
  std::vector<std::unique_ptr<Exchange>> all_;
  std::unique_ptr<Protocol> protocol_;
};

std::string Mutated(std::string bytes, Random& random) {
  const uint64_t changes = random.Below(6);
  for (uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t at = random.Below(bytes.size());
    switch (random.Below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        bytes.erase(at, 1 + random.Below(8));
        break;
      case 2:
        bytes.insert(at, std::string(1 + random.Below(8), static_cast<char>(random.Below(256))));
        break;
      case 3:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

// What a proper server says to `streams` requests, without listening to them.
std::string Http2Script(int streams) {
  std::string out("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64", 15);
  nghttp2_hd_deflater* deflater = nullptr;
  nghttp2_hd_deflate_new(&deflater, 4096);
  for (int i = 0; i < streams; ++i) {
    const auto id = static_cast<char>(2 * i + 1);
    std::string status = ":status";
    std::string ok = "200";
    std::string name = "x-name-" + std::to_string(i % 3);
    std::string value = "some value";
    const auto raw = [](std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); };
    nghttp2_nv pairs[] = {{raw(status), raw(ok), status.size(), ok.size(), 0},
                          {raw(name), raw(value), name.size(), value.size(), 0}};
    uint8_t block[256];
    const ssize_t size = nghttp2_hd_deflate_hd(deflater, block, sizeof block, pairs, 2);
    out += std::string("\x00\x00", 2) + static_cast<char>(size) + std::string("\x01\x04", 2) +
           std::string(3, '\0') + id;
    out.append(reinterpret_cast<const char*>(block), static_cast<size_t>(size));
    out += std::string("\x00\x00\x05\x00\x01\x00\x00\x00", 8) + id + "hello";
  }
  nghttp2_hd_deflate_del(deflater);
  return out;
}

TEST(ProtocolTest, AProperHttp2ScriptIsUnderstood) {
  Random random(1);
  Tester tester(true, random);
  tester.Start(10);
  tester.Feed(Http2Script(10));
  EXPECT_EQ(tester.ended, 10u);
  EXPECT_GT(tester.bytes, 0u);
}

TEST(ProtocolTest, Http2SurvivesAnything) {
  const std::string script = Http2Script(10);
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Tester tester(true, random);
    tester.Start(10);
    tester.Feed(Mutated(script, random));
    tester.Start(3);
    tester.Feed(Mutated(script, random));
    tester.End();
  }
}

TEST(ProtocolTest, Http1SurvivesAnything) {
  const std::string scripts[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\n3;x=y\r\n!!!\r\n0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\r\nConnection: close\r\n\r\nuntil the "
      "end",
  };
  for (uint64_t seed = 0; seed < 9000; ++seed) {
    Random random(seed);
    Tester tester(false, random);
    tester.Start(1);
    tester.Feed(Mutated(scripts[seed % 3], random));
    tester.Start(1);
    tester.Feed(Mutated(scripts[(seed + 1) % 3], random));
    tester.End();
  }
}

TEST(ProtocolTest, PipelinedHttp1SurvivesAnything) {
  const std::string script =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nhello"
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
      "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nuntil the end";
  for (uint64_t seed = 0; seed < 9000; ++seed) {
    Random random(seed);
    Tester tester(false, random, 6);
    tester.Start(6);
    tester.Feed(Mutated(script, random));
    tester.Start(3);
    tester.Feed(Mutated(script, random));
    tester.End();
  }
}

// Notes what becomes of exchanges.
class Noter : public ExchangeEvents {
 public:
  void OnAnswer(Exchange&) override {}
  void OnBody(Exchange& exchange, std::string_view data) override {
    exchange.response.body += data;
  }
  void OnEnd(Exchange& exchange) override {
    seen += exchange.request.target + "=" + std::to_string(exchange.response.status) + ":" +
            exchange.response.body + " ";
  }
  void OnFailure(Exchange& exchange, HttpError, bool) override {
    seen += exchange.request.target + " failed ";
  }

  std::string seen;
};

class PipelineTest : public testing::Test {
 protected:
  PipelineTest() {
    for (size_t i = 0; i < 4; ++i) {
      all_[i].request = {"GET", "/" + std::to_string(i), {}, ""};
      EXPECT_GT(protocol_->Limit(), i);
      protocol_->Start(all_[i]);
    }
    std::string out;
    protocol_->Produce(out, 1 << 20);
    EXPECT_EQ(std::count(out.begin(), out.end(), 'G'), 4) << "all go out together: " << out;
  }
  static std::string Answer(int code, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + std::to_string(code) + " X\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  Noter noter_;
  std::unique_ptr<Protocol> protocol_ = MakeHttp1({"http", "host", "", "", {}, 4}, noter_);
  Exchange all_[4];
};

TEST_F(PipelineTest, AnswersBelongToTheRequestsInTheirOrder) {
  const std::string bytes = Answer(200, "a") + Answer(404, "") + Answer(201, "ccc");
  for (const char c : bytes) protocol_->Receive({&c, 1});
  EXPECT_EQ(noter_.seen, "/0=200:a /1=404: /2=201:ccc ");
  protocol_->Receive(Answer(200, "d"));
  EXPECT_EQ(noter_.seen, "/0=200:a /1=404: /2=201:ccc /3=200:d ");
  EXPECT_FALSE(protocol_->Broken());
  protocol_->Receive("HTTP/1.1 ");
  EXPECT_TRUE(protocol_->Broken()) << "nobody asked";
}

TEST_F(PipelineTest, TheAnswerOfAnAbortedRequestIsThrownAway) {
  protocol_->Abort(all_[0]);
  protocol_->Abort(all_[2]);
  protocol_->Receive(Answer(200, "a") + Answer(200, "b") + Answer(200, "c") + Answer(200, "d"));
  EXPECT_EQ(noter_.seen, "/1=200:b /3=200:d ");
  EXPECT_FALSE(protocol_->Broken());
}

TEST_F(PipelineTest, WhatComesAfterAFarewellWasNotLookedAt) {
  protocol_->Receive(Answer(200, "a") + Answer(200, "b", "Connection: close\r\n"));
  EXPECT_EQ(noter_.seen, "/0=200:a /1=200:b ");
  ASSERT_TRUE(protocol_->Broken());
  EXPECT_EQ(protocol_->Broken()->kind, HttpError::Kind::kUnsent);
  EXPECT_EQ(protocol_->Limit(), 0u);
}

TEST_F(PipelineTest, ChunksMayComeInPiecesOfAnySize) {
  const std::string head = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string bytes = head + "0\r\n\r\n" + head + "0\r\nA: b\r\n\r\n" + head +
                            "1\r\nx\r\n0\r\n\r\n" + head +
                            "2;a=b\r\nxy\r\n1\r\nz\r\n00;c\r\nA: b\r\n\r\n";
  for (const size_t piece : {1, 2, 3, 4, 7, 1000}) {
    Noter noter;
    const auto protocol = MakeHttp1({"http", "host", "", "", {}, 4}, noter);
    for (Exchange& exchange : all_) {
      exchange = {};
      exchange.request = {"GET", "/", {}, ""};
      protocol->Start(exchange);
    }
    for (size_t at = 0; at < bytes.size(); at += piece) {
      protocol->Receive(std::string_view(bytes).substr(at, piece));
    }
    EXPECT_EQ(noter.seen, "/=200: /=200: /=200:x /=200:xyz ") << "pieces of " << piece;
    EXPECT_FALSE(protocol->Broken());
  }
}

TEST(Malformed, LooksAtEveryCharacterWhereverItStands) {
  for (int c = 0; c < 256; ++c) {
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    for (size_t at = 1; at < 20; ++at) {
      std::string text(20, 'x');
      text[0] = '/';
      text[at] = static_cast<char>(c);
      EXPECT_EQ(Malformed({"GET", text, {}, ""}).has_value(), c <= 0x20 || c >= 0x7f) << c;
      EXPECT_EQ(Malformed({"GET", "/", {{"a", text}}, ""}).has_value(), control) << c;
    }
  }
}

}  // namespace
}  // namespace berth::net
