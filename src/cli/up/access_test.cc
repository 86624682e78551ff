// M5: beyond loopback there is TLS, and the kubeconfig has what a client needs for it.
#include "cli/up/access.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "kube/auth/kubeconfig.h"

namespace berth::cli::up {
namespace {

TEST(UpAccess, M5LoopbackIsPlainAndOpen) {
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1"}) {
    const auto access = MakeAccess(address, {});
    ASSERT_TRUE(access);
    EXPECT_TRUE(access->token.empty()) << address;
    EXPECT_FALSE(access->certificate) << address;
  }
  EXPECT_EQ(ServerUrl("127.0.0.1", 8001, {}), "http://127.0.0.1:8001");
  EXPECT_EQ(ServerUrl("::1", 8001, {}), "http://[::1]:8001");
}

TEST(UpAccess, M5OtherAddressesHaveTlsAndAToken) {
  const auto access = MakeAccess("192.0.2.7", {"dev.example", "*.app.example", "192.0.2.8"});
  ASSERT_TRUE(access);
  EXPECT_EQ(access->token.size(), 64u);
  EXPECT_NE(access->token, MakeAccess("192.0.2.7", {})->token);
  ASSERT_TRUE(access->certificate);
  const std::string server = ServerUrl("192.0.2.7", 8001, *access);
  EXPECT_EQ(server, "https://192.0.2.7:8001");
  EXPECT_EQ(ServerUrl("0.0.0.0", 8001, *access), "https://127.0.0.1:8001");
  EXPECT_EQ(ServerUrl("::", 8001, *access), "https://[::1]:8001");

  const auto client = kube::ParseKubeconfig(KubeconfigText(server, *access), "", "kubeconfig");
  ASSERT_TRUE(client) << client.error().Message();
  EXPECT_EQ(client->server, server);
  EXPECT_EQ(client->token, access->token);
  EXPECT_EQ(client->tls.ca_pem, access->certificate->authority);

  BIO* bio = BIO_new_mem_buf(access->certificate->cert.data(), -1);
  X509* leaf = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  ASSERT_NE(leaf, nullptr);
  for (const char* address : {"127.0.0.1", "::1", "192.0.2.7", "192.0.2.8"}) {
    EXPECT_EQ(X509_check_ip_asc(leaf, address, 0), 1) << address;
  }
  for (const char* name : {"localhost", "dev.example", "x.app.example"}) {
    EXPECT_EQ(X509_check_host(leaf, name, 0, 0, nullptr), 1) << name;
  }
  EXPECT_EQ(X509_check_host(leaf, "other.example", 0, 0, nullptr), 0);
  BIO* authority_bio = BIO_new_mem_buf(access->certificate->authority.data(), -1);
  X509* authority = PEM_read_bio_X509(authority_bio, nullptr, nullptr, nullptr);
  ASSERT_NE(authority, nullptr);
  EXPECT_EQ(X509_verify(leaf, X509_get0_pubkey(authority)), 1);
  X509_free(leaf);
  X509_free(authority);
  BIO_free(bio);
  BIO_free(authority_bio);
}

TEST(UpAccess, L4TheKubeconfigIsItsOwnersAlone) {
  char name[] = "/tmp/berth-access-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string path = std::string(name) + "/kubeconfig";
  const std::string other = std::string(name) + "/other";
  std::ofstream(other) << "untouched";
  std::ofstream(path) << "old";
  chmod(path.c_str(), 0666);
  ASSERT_EQ(symlink(other.c_str(), (path + ".new").c_str()), 0);
  ASSERT_TRUE(WriteKubeconfig(path, "new"));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  std::string text;
  std::ifstream(path) >> text;
  EXPECT_EQ(text, "new");
  std::ifstream(other) >> text;
  EXPECT_EQ(text, "untouched") << "the link was not followed";
  std::filesystem::remove_all(name);
}

TEST(UpAccess, L3TheLimitOfFilesIsRaised) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  RaiseFileLimit();
  rlimit after{};
  getrlimit(RLIMIT_NOFILE, &after);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace berth::cli::up
