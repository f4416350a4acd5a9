// save and load: tensors to and from a safetensors file, one at a time, so that the host holds no more than one of a
// card's tensors. Read next: safetensors.cpp (the header), file.cpp, checkpoint.cpp.
#include "labrig/io.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "io/file.hpp"
#include "io/safetensors.hpp"
#include "labrig/autograd.hpp"
#include "tensor/impl.hpp"

namespace labrig::io {
namespace {

const std::string kDevicePrefix = "device:";

std::vector<Entry> entries_of(const NamedTensors& tensors) {
  std::vector<Entry> entries;
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    impl_of(tensor);  // throws for an undefined one
    if (name == "__metadata__" || !names.insert(name).second) {
      throw Error("bad-checkpoint", "two parts of the file would be called '" + name + "'",
                  "the header holds each name once, and \"__metadata__\" is its own",
                  "give each tensor a name of its own");
    }
    entries.push_back({name, tensor.dtype(), tensor.sizes(), 0, tensor.nbytes(), 0});
  }
  sort_for_writing(entries);
  std::uint64_t at = 0;
  for (Entry& entry : entries) {
    entry.begin = at;
    entry.end = at += entry.end;
  }
  return entries;
}

Metadata with_devices(Metadata metadata, const NamedTensors& tensors) {
  metadata.try_emplace("format", "pt");
  for (const auto& [name, tensor] : tensors) metadata.try_emplace(kDevicePrefix + name, tensor.device().str());
  return metadata;
}

// The device that a tensor was saved on; taken out of the metadata. One that labrig does not know ("xpu:0") counts as
// the host where it does not decide anything.
Device take_saved_device(Metadata& metadata, const Entry& entry, const FileFacts& file, bool decides) {
  const auto node = metadata.extract(kDevicePrefix + entry.name);
  if (node.empty()) return Device{};
  try {
    return Device(node.mapped());
  } catch (const Error& error) {
    if (!decides) return Device{};
    throw bad_checkpoint(file, "InvalidHeaderDeserialization", entry.position,
                         "'" + entry.name + "' was saved on the device '" + node.mapped() + "': " + error.what(),
                         "correct \"" + node.key() + "\" in the metadata");
  }
}

void check_saved_device(const std::string& name, Device saved) {
  if (saved.is_cpu()) return;
  const int count = device_count(saved.type());
  const std::string type = name_of(saved.type());
  if (saved.index() < count && count > 0) return;
  std::string upper = type;
  std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  const std::string what =
      count == 0 ? "Attempting to deserialize object on a " + upper + " device but torch." + type +
                       ".is_available() is False. If you are running on a CPU-only machine, please use torch.load "
                       "with map_location=torch.device('cpu') to map your storages to the CPU."
                 : "Attempting to deserialize object on " + upper + " device " + std::to_string(saved.index()) +
                       " but torch." + type + ".device_count() is " + std::to_string(count) +
                       ". Please use torch.load with map_location to map your storages to an existing device.";
  throw Error("invalid-device", what, "'" + name + "' was saved on " + saved.str() + ", and goes back there by itself",
              "say where it shall go: load(path, \"cpu\"), or load(path, device)");
}

Device destination(const MapLocation& map_location, const std::string& name, Device saved) {
  if (map_location.function()) return resolve(map_location.function()(name, saved));
  check_saved_device(name, saved);
  return resolve(saved);
}

Tensor read_tensor(const InputFile& file, const Entry& entry, std::uint64_t data_start, const FileFacts& facts) {
  const Tensor tensor = make_tensor(entry.sizes, entry.dtype, entry.name);
  const std::span bytes(static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes());
  const std::size_t read = file.read(data_start + entry.begin, bytes);
  if (read < bytes.size()) {
    throw bad_checkpoint(facts, "MetadataIncompleteBuffer", data_start + entry.begin + read,
                         "the file became shorter while it was read", "load it when nobody writes to it");
  }
  if (entry.dtype == kBool) {  // any other value than 0 and 1 is no bool to C++
    for (std::byte& byte : bytes) byte = std::byte{byte != std::byte{0}};
  }
  return tensor;
}

}  // namespace

void save(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  const NoGradGuard guard;
  const std::vector<Entry> entries = entries_of(tensors);
  const std::string header = header_text(entries, with_devices(metadata, tensors));
  std::map<std::string_view, const Tensor*> by_name;
  for (const auto& [name, tensor] : tensors) by_name[name] = &tensor;
  OutputFile file(path);
  file.write(std::as_bytes(std::span(header)));
  for (const Entry& entry : entries) {
    const Tensor host = by_name.at(entry.name)->cpu().contiguous();
    announce_host_access(impl_of(host), false);
    file.write({static_cast<const std::byte*>(host.data_ptr()), host.nbytes()});
  }
  file.finish();
}

Loaded load(const std::string& path, const MapLocation& map_location) {
  const NoGradGuard guard;
  const InputFile file(path);
  const FileFacts facts{path, file.bytes()};
  std::string start(64, '\0');  // enough to tell what else the file may be
  start.resize(file.read(0, std::as_writable_bytes(std::span(start))));
  std::string text(header_length(start, facts).value(), '\0');
  text.resize(file.read(kLengthBytes, std::as_writable_bytes(std::span(text))));
  Header header = parse_header(text, facts).value();

  Loaded loaded;
  std::vector<Device> devices;  // all checked before anything is read
  devices.reserve(header.entries.size());
  for (const Entry& entry : header.entries) {
    const Device saved = take_saved_device(header.metadata, entry, facts, map_location.function() == nullptr);
    devices.push_back(destination(map_location, entry.name, saved));
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Entry& entry = header.entries[i];
    const Tensor tensor = read_tensor(file, entry, kLengthBytes + text.size(), facts).to(devices[i]);
    loaded.tensors.emplace_back(entry.name, with_origin(tensor, Origin::loaded_from(path)));
  }
  loaded.metadata = std::move(header.metadata);
  return loaded;
}

}  // namespace labrig::io
