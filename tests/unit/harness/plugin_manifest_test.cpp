// The text of a manifest, and which imports a lab can forbid.
#include <gtest/gtest.h>

#include <string>

#include "loader/manifest.hpp"

namespace labrig::loader {
namespace {

using namespace std::string_literals;

const std::string kGood = "labrig-plugin=1\nkind=submission\nlab=scale\nabi=1.0\nbuild=tag\ncompiler=g++ 12.2\n\0"s;

TEST(Manifest, IsTakenApart) {
  const auto manifest = parse_manifest(kGood);
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->kind, "submission");
  EXPECT_EQ(manifest->lab, "scale");
  EXPECT_EQ(manifest->abi, "1.0");
  EXPECT_EQ(manifest->build, "tag");
  EXPECT_EQ(manifest->compiler, "g++ 12.2");
}

TEST(Manifest, MayHoldKeysOfLaterVersions) {
  std::string later = kGood;
  later.insert(later.size() - 1, "color=blue\n");
  EXPECT_TRUE(parse_manifest(later));
}

TEST(Manifest, IsRefusedWhenItIsTornOrDoubled) {
  EXPECT_FALSE(parse_manifest(""));
  EXPECT_FALSE(parse_manifest(kGood.substr(0, kGood.size() - 1)));                // no NUL at the end
  EXPECT_FALSE(parse_manifest(kGood + kGood));                                    // the macro twice
  EXPECT_FALSE(parse_manifest("labrig-plugin=2\n"s + kGood.substr(16)));          // another head
  EXPECT_FALSE(parse_manifest("labrig-plugin=1\nkind=submission\n\0"s));          // keys missing
  EXPECT_FALSE(parse_manifest(kGood.substr(0, 30) + "\x1b" + kGood.substr(30)));  // not plain text
}

TEST(Manifest, HasAVersionOfTwoNumbers) {
  EXPECT_EQ(parse_version("1.0"), std::make_pair(1, 0));
  EXPECT_EQ(parse_version("12.34"), std::make_pair(12, 34));
  for (const char* bad : {"", "1", "1.", ".1", "1.0.0", "1.x"}) EXPECT_FALSE(parse_version(bad)) << bad;
}

TEST(ForbiddenImport, IsAWholeNameOrAPrefix) {
  EXPECT_TRUE(is_forbidden("dlsym", "dlsym"));
  EXPECT_FALSE(is_forbidden("dlsymbols", "dlsym"));
  EXPECT_TRUE(is_forbidden("labrig::amp::scale(labrig::Tensor const&)", "labrig::amp::*"));
  EXPECT_TRUE(is_forbidden("labrig::amp::scale(labrig::Tensor const&)", "labrig::amp::"));
  EXPECT_TRUE(is_forbidden("labrig::mul(labrig::Tensor const&, double)", "labrig::mul"));
  EXPECT_FALSE(is_forbidden("labrig::mul_(labrig::Tensor const&, double)", "labrig::mul"));
}

TEST(ForbiddenImport, IsFoundBehindAReturnTypeOrInATypeinfo) {
  EXPECT_TRUE(is_forbidden("void labrig::amp::apply<std::vector<int> >(int)", "labrig::amp::*"));
  EXPECT_TRUE(is_forbidden("typeinfo for labrig::amp::GradScaler", "labrig::amp::*"));
  EXPECT_TRUE(is_forbidden("vtable for labrig::amp::GradScaler", "labrig::amp::*"));
}

TEST(ForbiddenImport, IsNotMistakenForAnArgument) {
  EXPECT_FALSE(is_forbidden("std::vector<labrig::amp::Scale>::push_back(labrig::amp::Scale const&)", "labrig::amp::*"));
}

}  // namespace
}  // namespace labrig::loader
