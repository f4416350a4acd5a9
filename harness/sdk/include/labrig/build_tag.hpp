// What must be equal between the harness and a plugin, because C++ objects cross the line. Read off the compiler that
// compiles this header, plus the hash of the public headers that CMake made.
#pragma once

#include <string_view>

#include "labrig/header_hash.h"

#define LABRIG_TEXT_(x) #x
#define LABRIG_TEXT(x) LABRIG_TEXT_(x)

#if defined(__x86_64__)
#define LABRIG_TAG_ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define LABRIG_TAG_ARCHITECTURE "aarch64"
#else
#define LABRIG_TAG_ARCHITECTURE "other"
#endif

#if defined(_GLIBCXX_RELEASE) && _GLIBCXX_USE_CXX11_ABI
#define LABRIG_TAG_LIBRARY "libstdc++-cxx11"
#elif defined(_GLIBCXX_RELEASE)
#define LABRIG_TAG_LIBRARY "libstdc++-old"
#else
#define LABRIG_TAG_LIBRARY "libc++"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define LABRIG_TAG_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define LABRIG_TAG_SANITIZER "thread"
#else
#define LABRIG_TAG_SANITIZER "none"
#endif

#if defined(__clang__)
#define LABRIG_TAG_COMPILER "clang++ " LABRIG_TEXT(__clang_major__) "." LABRIG_TEXT(__clang_minor__)
#else
#define LABRIG_TAG_COMPILER "g++ " LABRIG_TEXT(__GNUC__) "." LABRIG_TEXT(__GNUC_MINOR__)
#endif

namespace labrig::plugin {

// The Itanium C++ ABI is common to g++ and clang++; what differs is the standard library and its string.
inline constexpr std::string_view kBuildTag =
    LABRIG_TAG_ARCHITECTURE " " LABRIG_TAG_LIBRARY " sanitizer-" LABRIG_TAG_SANITIZER " headers-" LABRIG_HEADER_HASH;
inline constexpr std::string_view kCompiler = LABRIG_TAG_COMPILER;

}  // namespace labrig::plugin
