// Sizes as messages print them. PyTorch prints two decimals, so a size is known to half of its last digit only; sums
// are shown in the unit of the text they come from. Units are binary under every name: PyTorch's older releases wrote
// MB and GB for MiB and GiB.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace labrig::triage {

struct Amount {
  double bytes = 0;
  double slack_bytes = 0;  // the true size is within this of `bytes`
  std::string unit = "bytes";
  std::string text;  // as it was printed, "20.00 MiB"
};

// A size at the start of a text without blanks ("20.00mib(gpu0"), and how many characters it takes. None where no
// number with a unit stands there.
struct AmountAt {
  Amount amount;
  std::size_t length = 0;
};
std::optional<AmountAt> amount_at(std::string_view text);

// A number of at most 40 characters at the start of a text: "1,024.5", "7,93", "6.1e-05". Commas in threes separate
// thousands, another comma is the decimal point.
struct NumberAt {
  double value = 0;
  int decimals = 0;
  std::size_t length = 0;
};
std::optional<NumberAt> number_at(std::string_view text);

// "KiB" for "kb", "kib", ...; none for a word that is no unit. And the bytes in one.
std::optional<std::string> unit_named(std::string_view word);
double bytes_in(std::string_view unit);

// A size that is known to the byte, in the unit that suits it.
Amount exactly(double bytes);
// Of several: its slack is the sum.
Amount sum(const Amount& a, const Amount& b);
Amount difference(const Amount& a, const Amount& b);

// "4.85" in a unit, and "4.85 GiB".
std::string number_in(double bytes, std::string_view unit);
std::string size_in(double bytes, std::string_view unit);

}  // namespace labrig::triage
