#include "channel/values.hpp"

#include <bit>
#include <cstring>

namespace labrig::channel {

using Json = nlohmann::json;

namespace {

constexpr std::size_t kMostValues = 4096;
constexpr std::size_t kLongestName = 256;

Error damaged(const std::string& why) {
  return Error("damaged-values", "the values do not make sense", why, "send what encode_values() made");
}

Dtype dtype_named(const std::string& name) {
  for (int i = 0; i < kDtypeCount; ++i)
    if (name == name_of(static_cast<Dtype>(i))) return static_cast<Dtype>(i);
  throw damaged("'" + name.substr(0, kLongestName) + "' is no element type");
}

// The field of an object, of the right type, or damage.
const Json& field(const Json& json, const char* name, bool (*is_right)(const Json&)) {
  const auto found = json.find(name);
  if (found == json.end() || !is_right(*found))
    throw damaged(std::string("'") + name + "' is missing or of another type");
  return *found;
}
bool is_text(const Json& json) { return json.is_string(); }
bool is_count(const Json& json) { return json.is_number_unsigned(); }
bool is_list(const Json& json) { return json.is_array(); }

// A byte of a bool that is neither 0 nor 1 would be undefined behaviour to read.
void make_bools(std::byte* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = bytes[i] == std::byte{0} ? std::byte{0} : std::byte{1};
}

// `room`: the bytes that no tensor has taken yet. Each byte belongs to one tensor, so that a short frame cannot ask for
// much memory by naming the same bytes again and again.
Tensor decode_tensor(const Json& json, std::string_view bytes, std::size_t& room) {
  const Dtype dtype = dtype_named(field(json, "dtype", is_text).get<std::string>());
  Dims sizes;
  __extension__ using Wide = unsigned __int128;
  Wide needed = element_bytes(dtype);
  bool empty = false;
  const Json& list = field(json, "sizes", is_list);
  if (list.size() > static_cast<std::size_t>(kMaxDims)) throw damaged("a tensor has too many dimensions");
  for (const Json& size : list) {
    if (!is_count(size) || size.get<std::uint64_t>() > std::uint64_t{1} << 40) throw damaged("a size is none");
    sizes.push_back(size.get<std::int64_t>());
    empty = empty || sizes[sizes.count() - 1] == 0;
    // At most 2^43 before the product, so this does not overflow.
    if (needed <= bytes.size()) needed *= size.get<std::uint64_t>();
  }
  if (empty) needed = 0;
  const auto offset = field(json, "offset", is_count).get<std::uint64_t>();
  if (needed > bytes.size() || offset > bytes.size() - static_cast<std::size_t>(needed))
    throw damaged("a tensor has more elements than bytes");
  if (needed > room) throw damaged("tensors share their bytes");
  room -= static_cast<std::size_t>(needed);
  const Tensor tensor = labrig::empty(sizes, dtype);
  if (needed == 0) return tensor;
  const auto count = static_cast<std::size_t>(needed);
  std::memcpy(tensor.data_ptr(), bytes.data() + offset, count);
  if (dtype == Dtype::boolean) make_bools(static_cast<std::byte*>(tensor.data_ptr()), count);
  return tensor;
}

void decode_one(const Json& json, std::string_view bytes, std::size_t& room, lab::Values& values) {
  if (!json.is_object()) throw damaged("a value is no object");
  const std::string name = field(json, "name", is_text).get<std::string>();
  if (name.empty() || name.size() > kLongestName || values.has(name))
    throw damaged("a name is empty, long or given twice");
  if (json.contains("dtype"))
    values.set(name, decode_tensor(json, bytes, room));
  else if (json.contains("integer"))
    values.set(name, field(json, "integer", [](const Json& j) { return j.is_number_integer(); }).get<std::int64_t>());
  else if (json.contains("real_bits"))
    values.set(name, std::bit_cast<double>(field(json, "real_bits", is_count).get<std::uint64_t>()));
  else
    values.set(name, field(json, "text", is_text).get<std::string>());
}

}  // namespace

EncodedValues encode_values(const lab::Values& values) {
  EncodedValues encoded{Json::array(), {}};
  for (const auto& [name, value] : values.all()) {
    Json json = {{"name", name}};
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      const Tensor plain = tensor->contiguous();
      json["dtype"] = name_of(plain.dtype());
      json["sizes"] = Json::array();
      for (const std::int64_t size : plain.sizes()) json["sizes"].push_back(static_cast<std::uint64_t>(size));
      json["offset"] = encoded.bytes.size();
      if (plain.nbytes() > 0) encoded.bytes.append(static_cast<const char*>(plain.data_ptr()), plain.nbytes());
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      json["integer"] = *integer;
    } else if (const auto* real = std::get_if<double>(&value)) {
      json["real_bits"] = std::bit_cast<std::uint64_t>(*real);  // NaN and infinity have no JSON
    } else {
      json["text"] = std::get<std::string>(value);
    }
    encoded.json.push_back(std::move(json));
  }
  return encoded;
}

Result<lab::Values> decode_values(const Json& json, std::string_view bytes) {
  if (!json.is_array() || json.size() > kMostValues) return damaged("the description is no list, or too long");
  try {
    lab::Values values;
    std::size_t room = bytes.size();
    for (const Json& item : json) decode_one(item, bytes, room, values);
    return values;
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace labrig::channel
