#include "server/auth/review_cache.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace berth::server {

SecretHash::SecretHash() : key_(32, '\0') {
  RAND_bytes(reinterpret_cast<unsigned char*>(key_.data()), static_cast<int>(key_.size()));
}

std::string SecretHash::Of(const std::string& text) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

}  // namespace berth::server
