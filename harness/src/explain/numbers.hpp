// Texts that say more in their numbers than in their words.
#pragma once

#include <string>
#include <string_view>

namespace labrig::explain {

// CUDA_VISIBLE_DEVICES renumbers the cards. Where a text has its value, a sentence with the arithmetic: which numbers
// are valid, and which one the card has that was asked for. Empty where there is nothing to say.
std::string visible_cards_note(std::string_view text);

// A list of loss scales: hardly any words, numbers that double and halve.
bool is_log_of_scales(std::string_view text);

}  // namespace labrig::explain
