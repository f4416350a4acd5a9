#include "store/digest.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace labrig::store {

std::string hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return hex({reinterpret_cast<const char*>(digest.data()), length});
}

std::string hmac_sha256(std::string_view secret, std::initializer_list<std::string_view> texts) {
  std::string message;
  for (const std::string_view text : texts) message += std::to_string(text.size()) + ":" + std::string(text);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

std::uint64_t hmac_number(std::string_view secret, std::initializer_list<std::string_view> texts) {
  const std::string digest = hmac_sha256(secret, texts);
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(digest[static_cast<std::size_t>(i)]);
  return number;
}

std::string random_token() {
  std::array<char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("no-random-numbers", "the system gave no random numbers", std::strerror(errno),
                "run labrig on a system whose getrandom() works");
  return hex({bytes.data(), bytes.size()});
}

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file || file.bad())
    return Error("unreadable-file", "cannot read " + path.string(),
                 errno != 0 ? std::strerror(errno) : "it is not a regular file",
                 "check that the file exists and that you may read it");
  return text;
}

}  // namespace labrig::store
