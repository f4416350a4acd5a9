// Histories and diagnoses as JSON; docs/triage.md has the schemas.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "labrig/triage.hpp"
#include "triage/history_json.hpp"

namespace labrig::triage {
namespace {

using nlohmann::json;
using Ordered = nlohmann::ordered_json;

Error bad_history(const std::string& place, const std::string& why) {
  return {"bad-history", "this history cannot be read: " + place, why,
          "write it with labrig::triage::to_json, or compare it with the schema in docs/triage.md"};
}

// Reads the members of one object; the first thing that is wrong is thrown.
class Members {
 public:
  Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) throw bad_history(place_, "it is no object");
  }

  template <class Integer>
  void read(const char* name, Integer& value, bool required = false) const {
    const json* found = find(name, required);
    if (!found) return;
    if (!found->is_number_integer() || (std::is_unsigned_v<Integer> && !found->is_number_unsigned()))
      throw bad_history(
          place_ + "." + name,
          "it must be a whole number" + std::string(std::is_unsigned_v<Integer> ? " of bytes, 0 or more" : ""));
    if (found->is_number_unsigned() &&
        found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()))
      throw bad_history(place_ + "." + name, "the number is too large");
    value = found->get<Integer>();
  }
  void read(const char* name, std::string& value) const {
    const json* found = find(name, false);
    if (!found) return;
    if (!found->is_string()) throw bad_history(place_ + "." + name, "it must be a text");
    value = found->get<std::string>();
  }

 private:
  const json* find(const char* name, bool required) const {
    const auto found = object_.find(name);
    if (found != object_.end() && !found->is_null()) return &*found;
    if (required) throw bad_history(place_ + "." + name, "it is missing");
    return nullptr;
  }

  const json& object_;
  std::string place_;
};

const json& list_in(const json& all, const char* name) {
  static const json kNone = json::array();
  const auto found = all.find(name);
  if (found == all.end() || found->is_null()) return kNone;
  if (!found->is_array()) throw bad_history(name, "it must be a list");
  return *found;
}

std::string place(const char* list, std::size_t i) { return std::string(list) + "[" + std::to_string(i) + "]"; }

MemoryHistory read_history(const json& all) {
  if (!all.is_object()) throw bad_history("the text", "it is no object");
  const auto schema = all.find("schema");
  if (schema != all.end() && *schema != "labrig.history/1")
    throw bad_history("schema", "only labrig.history/1 is known");
  MemoryHistory history;
  if (const auto card = all.find("card"); card != all.end()) {
    const Members members(*card, "card");
    members.read("total_bytes", history.card.total_bytes);
    members.read("context_bytes", history.card.context_bytes);
  }
  const json& rows = list_in(all, "rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Members members(rows[i], place("rows", i));
    HistoryRow& row = history.rows.emplace_back();
    members.read("step", row.step, true);
    members.read("phase", row.phase);
    members.read("batch", row.batch);
    members.read("allocated_bytes", row.allocated_bytes, true);
    members.read("reserved_bytes", row.reserved_bytes);
    members.read("peak_allocated_bytes", row.peak_allocated_bytes);
    members.read("free_bytes", row.free_bytes);
    members.read("largest_free_block_bytes", row.largest_free_block_bytes);
  }
  const json& owners = list_in(all, "owners");
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const Members members(owners[i], place("owners", i));
    HistoryOwner& owner = history.owners.emplace_back();
    members.read("row", owner.row, true);
    if (owner.row < 0 || owner.row >= static_cast<std::int64_t>(history.rows.size()))
      throw bad_history(place("owners", i) + ".row", "there is no such row");
    members.read("op", owner.op);
    members.read("phase", owner.phase);
    members.read("blocks", owner.blocks);
    members.read("bytes", owner.bytes, true);
  }
  if (const auto failure = all.find("failure"); failure != all.end() && !failure->is_null()) {
    const Members members(*failure, "failure");
    HistoryFailure& f = history.failure.emplace();
    members.read("step", f.step);
    members.read("phase", f.phase);
    members.read("op", f.op);
    members.read("requested_bytes", f.requested_bytes, true);
    f.segment_bytes = f.requested_bytes;
    members.read("segment_bytes", f.segment_bytes);
    members.read("allocated_bytes", f.allocated_bytes);
    members.read("reserved_bytes", f.reserved_bytes);
    members.read("free_bytes", f.free_bytes);
    members.read("largest_free_block_bytes", f.largest_free_block_bytes);
  }
  return history;
}

Ordered json_of(const Diagnosis& d) {
  Ordered numbers = Ordered::object();
  for (const Number& number : d.numbers) {
    // Bytes are whole; what JSON cannot hold is null.
    if (!std::isfinite(number.value))
      numbers[number.name] = nullptr;
    else if (number.value == std::floor(number.value) && std::abs(number.value) < 9e15)
      numbers[number.name] = static_cast<std::int64_t>(number.value);
    else
      numbers[number.name] = number.value;
  }
  Ordered result = {{"kind", d.kind}};
  if (!d.subject.empty()) result["subject"] = d.subject;
  result.update({{"cause", d.cause},
                 {"title", d.title},
                 {"evidence", d.evidence},
                 {"do", d.todo},
                 {"avoid", d.avoid},
                 {"unread", d.unread},
                 {"numbers", std::move(numbers)},
                 {"rows", d.rows}});
  if (!d.parts.empty()) {
    Ordered parts = Ordered::array();
    for (const Diagnosis& part : d.parts) parts.push_back(json_of(part));
    result["parts"] = std::move(parts);
  }
  return result;
}

}  // namespace

Result<MemoryHistory> history_from(const json& all) {
  try {
    return read_history(all);
  } catch (const Error& error) {
    return error;
  }
}

Result<MemoryHistory> history_from_json(std::string_view text) {
  try {
    return history_from(json::parse(text));
  } catch (const json::exception& error) {
    return bad_history("it is no JSON", error.what());
  }
}

std::string to_json(const MemoryHistory& history) {
  Ordered rows = Ordered::array(), owners = Ordered::array();
  for (const HistoryRow& row : history.rows)
    rows.push_back({{"step", row.step},
                    {"phase", row.phase},
                    {"batch", row.batch},
                    {"allocated_bytes", row.allocated_bytes},
                    {"reserved_bytes", row.reserved_bytes},
                    {"peak_allocated_bytes", row.peak_allocated_bytes},
                    {"free_bytes", row.free_bytes},
                    {"largest_free_block_bytes", row.largest_free_block_bytes}});
  for (const HistoryOwner& owner : history.owners)
    owners.push_back({{"row", owner.row},
                      {"op", owner.op},
                      {"phase", owner.phase},
                      {"blocks", owner.blocks},
                      {"bytes", owner.bytes}});
  Ordered all = {{"schema", "labrig.history/1"},
                 {"card", {{"total_bytes", history.card.total_bytes}, {"context_bytes", history.card.context_bytes}}},
                 {"rows", std::move(rows)},
                 {"owners", std::move(owners)},
                 {"failure", nullptr}};
  if (history.failure) {
    const HistoryFailure& f = *history.failure;
    all["failure"] = {{"step", f.step},
                      {"phase", f.phase},
                      {"op", f.op},
                      {"requested_bytes", f.requested_bytes},
                      {"segment_bytes", f.segment_bytes},
                      {"allocated_bytes", f.allocated_bytes},
                      {"reserved_bytes", f.reserved_bytes},
                      {"free_bytes", f.free_bytes},
                      {"largest_free_block_bytes", f.largest_free_block_bytes}};
  }
  return all.dump(1, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

std::string to_json(const Diagnosis& diagnosis) {
  Ordered all = {{"schema", "labrig.triage/1"}};
  all.update(json_of(diagnosis));
  return all.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

}  // namespace labrig::triage
