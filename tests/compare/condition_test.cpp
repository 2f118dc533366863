// Conditions of --fail-if.
#include <doctest/doctest.h>

#include "core/compare/condition.h"

using namespace gapscope;

namespace {

Comparison with(StepFigure figure, std::int64_t a, std::int64_t b) {
  Comparison c;
  c.a.figures[static_cast<std::size_t>(figure)].median = a;
  c.b.figures[static_cast<std::size_t>(figure)].median = b;
  return c;
}

bool holds_for(std::string_view text, std::int64_t a, std::int64_t b) {
  const auto condition = parse_condition(text);
  REQUIRE_MESSAGE(condition.ok(), text);
  return holds(*condition, with(condition->figure, a, b));
}

}  // namespace

TEST_CASE("a condition compares what B has more than A") {
  CHECK(holds_for("gpu_busy>+5%", 1000, 1051));
  CHECK(!holds_for("gpu_busy>+5%", 1000, 1050));
  CHECK(holds_for("kernels>+0", 5, 6));
  CHECK(!holds_for("kernels>0", 5, 5));
  CHECK(holds_for("launches > +2", 5, 8));
  CHECK(!holds_for("launches>+2", 5, 7));
  CHECK(holds_for("idle>+50us", 0, 50'001));
  CHECK(!holds_for("idle>+50us", 0, 50'000));
  CHECK(holds_for("cpu<-10%", 1000, 899));
  CHECK(!holds_for("cpu<-10%", 1000, 900));
  CHECK(holds_for("cpu>+10%", 0, 1));
}

TEST_CASE("a condition on a row of use compares its values, shares by points") {
  const auto holds_of = [](std::string_view text, std::optional<double> a, std::optional<double> b) {
    const auto condition = parse_condition(text);
    REQUIRE_MESSAGE(condition.ok(), text);
    REQUIRE(!condition->use.empty());
    return holds(*condition, Comparison(), {UseRow{condition->use, "", UseUnit::share, a, b}});
  };
  CHECK(holds_of("utilization<-5pp", 0.5, 0.44));
  CHECK(!holds_of("utilization<-5pp", 0.5, 0.46));
  CHECK(holds_of("flops<-3%", 100, 96));
  CHECK(holds_of("memory>+100", 1000, 1101));
  CHECK(holds_of("step>+1ms", 5e6, 7e6));
  CHECK(holds_of("account.idle.python>+1pp", 0.1, 0.2));
  CHECK(holds_of("gain>+5pp", 0.1, 0.2));
  CHECK(!holds_of("gain.overhead_bound>+5pp", 0.1, 0.14));
  CHECK(!holds_of("utilization<-5pp", 0.5, std::nullopt));
  CHECK(!parse_condition("utilization<-5").ok());
  CHECK(!parse_condition("kernels>+5pp").ok());
}

TEST_CASE("an unreadable condition is a sentence that says what is allowed") {
  for (const char* text : {"", "cpu", "cpu>", "cpu>+", "cpu>+5", "speed>+5%", "kernels>+5us", "kernels>nan", "cpu>inf%",
                           "kernels>+-3", "cpu>+5%%", "cpu>>5%", ">5%"}) {
    CAPTURE(text);
    const auto condition = parse_condition(text);
    REQUIRE(!condition.ok());
    CHECK(condition.error().message.find("cpu, gpu_time, gpu_busy, idle, gpu_ops, kernels, launches, graph_launches, copies") !=
          std::string::npos);
  }
}
