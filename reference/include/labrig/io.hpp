// Checkpoint files in the safetensors format: a JSON header, then the bytes of each tensor. The `safetensors` Python
// package reads what is written here, and the other way round. A file never brings code with it. Read next:
// checkpoint.hpp (a model with its optimizer in one file).
//
//   8 bytes: n   | n bytes: {"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},…}   | the data
//
// Each tensor's device is kept under "device:NAME" in the file's metadata.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "labrig/device.hpp"
#include "labrig/export.hpp"
#include "labrig/state_dict.hpp"

namespace labrig::io {

// Texts by name.
using Metadata = std::map<std::string, std::string>;

// Where loaded tensors go: back to the device that they were saved on (no argument; the CPU for files that do not say),
// all to one device, or where a function of name and saved device says.
class MapLocation {
 public:
  using Function = std::function<Device(const std::string& name, Device saved)>;

  MapLocation() = default;
  MapLocation(Device device) : function_([device](const std::string&, Device) { return device; }) {}
  MapLocation(const char* device) : MapLocation(Device(device)) {}
  template <class Call>
    requires std::convertible_to<std::invoke_result_t<Call&, const std::string&, Device>, Device>
  MapLocation(Call call) : function_(std::move(call)) {}

  // Empty: as saved.
  const Function& function() const { return function_; }

 private:
  Function function_;
};

struct Loaded {
  NamedTensors tensors;  // in the order of their bytes in the file
  Metadata metadata;     // without the devices
};

// Writes the tensors (fetched from cards, which synchronises) and `metadata`, to which "format": "pt" is added where it
// is not given: some Python tools want it. The file appears under its name when it is whole: it is written beside it
// and renamed. Of tensors that share memory each is written in full. Throws `bad-file` when it cannot be written,
// `bad-checkpoint` for a name that occurs twice or is "__metadata__", and for names and texts that are not UTF-8.
LABRIG_API void save(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});

// Reads such a file. Nothing is allocated before the header has been checked against the size of the file. Throws
// `bad-file` when it cannot be read, `bad-checkpoint` with the byte offset when it is not a whole and valid safetensors
// file (and says what it is instead, where it can tell), `invalid-device` with PyTorch's text when a tensor was saved
// on a device that is not there and no `map_location` says otherwise.
LABRIG_API Loaded load(const std::string& path, const MapLocation& map_location = {});

}  // namespace labrig::io
