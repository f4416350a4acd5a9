// What `labrig doctor` concludes from what a machine says about its cards.
#include "store/card_environment.hpp"

#include <gtest/gtest.h>

namespace labrig::store {
namespace {

CardFacts facts() {
  CardFacts f;
  f.backend = true;
  f.driver = "NVRM version: 580.95.05";
  f.nodes = 1;
  return f;
}

TEST(CardAdvice, IsNotNeededWithCardsAndOnMachinesWithoutAny) {
  CardFacts f = facts();
  f.cards = 1;
  EXPECT_EQ(card_advice(f).text, "");
  EXPECT_EQ(card_advice(CardFacts{}).text, "");
}

TEST(CardAdvice, KnowsAContainerThatWasStartedWithoutItsCard) {
  CardFacts f = facts();
  f.nodes = 0;
  f.container = true;
  EXPECT_NE(card_advice(f).fix.find("--gpus all"), std::string::npos);
  f.container = false;
  EXPECT_NE(card_advice(f).fix.find("nvidia-smi"), std::string::npos);
}

TEST(CardAdvice, KnowsABuildWithoutCuda) {
  CardFacts f = facts();
  f.backend = false;
  EXPECT_NE(card_advice(f).fix.find("make build CUDA=ON"), std::string::npos);
}

TEST(CardAdvice, KnowsAnOldDriver) {
  CardFacts f = facts();
  f.why_none = "CUDA driver version is insufficient for CUDA runtime version";
  EXPECT_NE(card_advice(f).text.find(f.why_none), std::string::npos);
  EXPECT_NE(card_advice(f).fix.find("must be updated"), std::string::npos);
}

TEST(CardAdvice, KnowsAVariableThatHidesEveryCard) {
  CardFacts f = facts();
  f.visible_set = true;
  EXPECT_NE(card_advice(f).text.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
  f.visible = "0";
  EXPECT_EQ(card_advice(f).text.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
}

TEST(CardAdvice, KnowsDeviceFilesWithoutADriver) {
  CardFacts f = facts();
  f.driver.clear();
  EXPECT_NE(card_advice(f).fix.find("modprobe"), std::string::npos);
}

}  // namespace
}  // namespace labrig::store
