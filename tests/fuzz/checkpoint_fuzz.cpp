// Fuzzes checkpoint files: any bytes are a file whose tensors lie in it one after the other, or an error of three
// sentences with its place. An input that starts with '@' is the header alone: its length is put in front of it, and
// the file is as long as its second byte and the largest offset make it, so that most of the file is right.
#include <algorithm>
#include <charconv>
#include <string>

#include "choices.hpp"
#include "io/safetensors.hpp"

namespace labrig::io {
namespace {

using fuzz::require;

void check_error(const Error& error) {
  require(error.code() == "bad-checkpoint", "a file that is no checkpoint is a bad-checkpoint");
  require(std::string_view(error.what()).starts_with("Error while deserializing header: "), "errors have their text");
  require(error.why().starts_with("at byte ") && !error.fix().empty(), "errors name their place");
}

void check(const Header& header, std::uint64_t data_start, const FileFacts& file) {
  std::uint64_t at = 0;
  for (const Entry& entry : header.entries) {
    require(entry.begin == at, "tensors follow one another");
    require(entry.end - entry.begin == element_bytes(entry.dtype) * static_cast<std::uint64_t>(entry.sizes.product()),
            "a tensor has the bytes of its shape");
    require(entry.position > kLengthBytes && entry.position <= data_start, "an entry has its place in the header");
    at = entry.end;
  }
  require(data_start + at == file.bytes, "the data ends where the file does");
}

// What was read can be written, and reads the same again.
void check_again(const Header& header) {
  const std::string text = header_text(header.entries, header.metadata);
  require(text.size() % kLengthBytes == 0, "the data is aligned");
  const std::uint64_t data = header.entries.empty() ? 0 : header.entries.back().end;
  const FileFacts file{"again", text.size() + data};
  const std::string_view start(text);
  require(header_length(start, file).value() == text.size() - kLengthBytes, "the length is that of the header");
  const Header again = parse_header(start.substr(kLengthBytes), file).value();
  require(again.metadata == header.metadata, "the metadata stays");
  require(std::ranges::equal(again.entries, header.entries,
                             [](const Entry& a, const Entry& b) {
                               return a.name == b.name && a.dtype == b.dtype && a.sizes == b.sizes &&
                                      a.begin == b.begin && a.end == b.end;
                             }),
          "the tensors stay");
}

// The largest number behind a "data_offsets".
std::uint64_t largest_offset(std::string_view header) {
  std::uint64_t largest = 0;
  for (auto at = header.find("data_offsets"); at != header.npos; at = header.find("data_offsets", at + 1)) {
    const auto comma = header.find(',', at);
    if (comma == header.npos) break;
    std::uint64_t value = 0;
    std::from_chars(header.data() + comma + 1, header.data() + header.size(), value);
    largest = std::max(largest, value);
  }
  return largest;
}

void read(std::string_view bytes, const FileFacts& file) {
  const Result<std::uint64_t> length = header_length(bytes.substr(0, 64), file);
  if (!length.ok()) return check_error(length.error());
  require(length.value() <= kMaxHeaderBytes && length.value() <= file.bytes - kLengthBytes,
          "the header is in the file");
  const Result<Header> header = parse_header(bytes.substr(kLengthBytes, length.value()), file);
  if (!header.ok()) return check_error(header.error());
  check(header.value(), kLengthBytes + length.value(), file);
  check_again(header.value());
}

}  // namespace
}  // namespace labrig::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace labrig;
  const std::string_view input(reinterpret_cast<const char*>(data), bytes);
  if (bytes > 2 && input[0] == '@') {
    const std::string_view header = input.substr(2);
    std::string text(io::kLengthBytes, '\0');
    text[0] = static_cast<char>(header.size() & 0xff);
    text[1] = static_cast<char>(header.size() >> 8 & 0xff);
    text[2] = static_cast<char>(header.size() >> 16 & 0xff);
    text += header;
    const std::uint64_t extra = static_cast<unsigned char>(input[1]) % 4 == 3;
    const std::uint64_t data_bytes = io::largest_offset(header) & 0xffff'ffff'ffff;
    io::read(text, {"fuzz", text.size() + data_bytes + extra});
  } else {
    io::read(input, {"fuzz", bytes});
  }
  return 0;
}
