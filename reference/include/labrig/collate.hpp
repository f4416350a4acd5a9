// How examples become a batch, and what can be done to all tensors of a batch: the structure stays, whatever it is made
// of. A tensor or a number becomes a tensor with one more dimension in front; a vector, pair, tuple or string map
// becomes one of batches; a type of your own has a static function `collate(const std::vector<T>&)` and, if it holds
// tensors, a member function `T pin_memory() const`.
// Read next: data.hpp (the loader).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "labrig/export.hpp"
#include "labrig/tensor.hpp"

namespace labrig::data {

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool is_tuple = false;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;
template <class... T>
inline constexpr bool is_tuple<std::tuple<T...>> = true;

// torch.stack along a new first dimension; throws `shape-mismatch` with PyTorch's text when the sizes differ.
LABRIG_API Tensor stack_examples(const std::vector<Tensor>& examples);
// Throws `shape-mismatch`: PyTorch's "each element in list of batch should be of equal size".
LABRIG_API void require_equal_length(std::size_t first, std::size_t other);

// The member `part` of each example.
template <class Examples, class Part>
auto each(const Examples& examples, const Part& part) {
  std::vector<std::decay_t<decltype(part(examples[0]))>> parts;
  parts.reserve(examples.size());
  for (const auto& example : examples) parts.push_back(part(example));
  return parts;
}

}  // namespace detail

// One batch of at least one example.
template <class T>
auto collate(const std::vector<T>& examples) {
  if constexpr (requires { T::collate(examples); }) {
    return T::collate(examples);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return detail::stack_examples(examples);
  } else if constexpr (std::is_arithmetic_v<T>) {  // as Python's numbers: f64 or i64
    using Value = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    const auto values = detail::each(examples, [](T value) { return static_cast<Value>(value); });
    return tensor(values);
  } else if constexpr (detail::is_vector<T>) {
    std::vector<decltype(collate(std::declval<const T&>()))> batch;
    for (const T& example : examples) detail::require_equal_length(examples[0].size(), example.size());
    for (std::size_t i = 0; i < examples[0].size(); ++i)
      batch.push_back(collate(detail::each(examples, [i](const T& example) { return example[i]; })));
    return batch;
  } else if constexpr (detail::is_map<T>) {
    using Part = typename T::mapped_type;
    std::map<std::string, decltype(collate(std::declval<const std::vector<Part>&>()))> batch;
    for (const auto& [key, unused] : examples[0])
      batch.emplace(key, collate(detail::each(examples, [&](const T& example) { return example.at(key); })));
    return batch;
  } else if constexpr (detail::is_tuple<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto batch = std::make_tuple(collate(detail::each(examples, [](const T& e) { return std::get<I>(e); }))...);
      if constexpr (requires(T pair) { pair.first; })
        return std::make_pair(std::get<0>(std::move(batch)), std::get<1>(std::move(batch)));
      else
        return batch;
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else {
    static_assert(sizeof(T) == 0, "labrig: give this type a static function collate(const std::vector<T>&)");
  }
}
// The type of a batch of such examples.
template <class T>
using Collated = decltype(collate(std::declval<const std::vector<T>&>()));

// The same structure with `f` of each part that f can be called with; other parts stay.
template <class T, class F>
T transform(const T& value, const F& f) {
  if constexpr (requires {
                  { f(value) } -> std::convertible_to<T>;
                }) {
    return f(value);
  } else if constexpr (detail::is_vector<T>) {
    T made;
    made.reserve(value.size());
    for (const auto& part : value) made.push_back(transform(part, f));
    return made;
  } else if constexpr (detail::is_map<T>) {
    T made;
    for (const auto& [key, part] : value) made.emplace(key, transform(part, f));
    return made;
  } else if constexpr (detail::is_tuple<T>) {
    return std::apply([&](const auto&... parts) { return T(transform(parts, f)...); }, value);
  } else {
    return value;
  }
}
// A copy in pinned memory, of the same type. A type with a member function pin_memory() is asked to do it.
template <class T>
T pin_memory(const T& value) {
  return transform(
      value, []<class Part>(const Part& part)
        requires requires { part.pin_memory(); }
      { return part.pin_memory(); });
}
template <class T, class F>
void for_each_tensor(const T& value, const F& f) {
  transform(value, [&f](const Tensor& part) {
    f(part);
    return part;
  });
}

}  // namespace labrig::data
