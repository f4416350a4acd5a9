// Why no card, or one card, can be used: the causes one by one, each with what to do. What is not known keeps the
// core's own words.
#pragma once

#include <string>

#include "doctor/card_facts.hpp"
#include "doctor/check.hpp"

namespace labrig::doctor {

struct CardCause {
  std::string id;  // stable, docs/doctor.md lists them; empty: nothing stands between labrig and a card
  Advice advice;
};

// Of a machine that shows a sign of a card, and where labrig sees none.
CardCause cause_of_no_card(const CardFacts& facts);
// Of a card that is seen and does not open.
CardCause cause_of_unusable(const CardFacts& facts, const UnusableCard& card);
// By the number of a CUDA error, as the driver gives it or as a message names it ("cudaErrorDevicesUnavailable").
// Without an id when nothing special is known of it.
CardCause cause_of_code(int code);
int code_named_in(const std::string& message);

// The check `card` (F31, F32).
Check card_check(const CardFacts& facts);

}  // namespace labrig::doctor
