#include "app/workload/command_line.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace gapscope::workload;

namespace {

std::variant<Options, Answer> parsed(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> arguments;
  for (std::string word; stream >> word;) arguments.push_back(word);
  return parse_command_line(arguments);
}

Options options_of(const std::string& line) {
  const auto result = parsed(line);
  if (const Answer* answer = std::get_if<Answer>(&result)) FAIL(answer->text);
  return std::get<Options>(result);
}

std::string refusal_of(const std::string& line) {
  const auto result = parsed(line);
  REQUIRE_MESSAGE(std::holds_alternative<Answer>(result), line);
  const Answer& answer = std::get<Answer>(result);
  CHECK(answer.exit_code == 2);
  return answer.text;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a case's name is enough: 64, bf16, three marked steps, cold, checked") {
  const Options options = options_of("matmul-add");
  CHECK(options.id == CaseId::kMatmulAdd);
  CHECK(options.size == 64);
  CHECK(options.dtype == Dtype::kBf16);
  CHECK(options.schedule.wait == 0);
  CHECK(options.schedule.warmup == 0);
  CHECK(options.schedule.active == 3);
  CHECK_FALSE(options.warmup);
  CHECK(options.check);
}

TEST_CASE("every case, type and variant is reached by its name") {
  for (const CaseRow& row : case_rows()) {
    CHECK(options_of(std::string(row.name)).id == row.id);
    CHECK(options_of(std::string(row.name)).batch == row.default_batch);
    CHECK(options_of(std::string(row.name)).variant == row.default_variant);
    if (row.other_variant != row.default_variant)
      CHECK(options_of(std::string(row.name) + " --variant " + std::string(variant_name(row.other_variant))).variant ==
            row.other_variant);
  }
  for (const Dtype dtype : {Dtype::kBf16, Dtype::kFp16, Dtype::kFp32, Dtype::kTf32})
    CHECK(options_of("bmm --dtype " + std::string(dtype_name(dtype))).dtype == dtype);
}

TEST_CASE("a schedule gives waiting, warming and active steps, --steps active ones alone") {
  const Options scheduled = options_of("linear --schedule 2,1,5 --warmup");
  CHECK(scheduled.schedule.wait == 2);
  CHECK(scheduled.schedule.warmup == 1);
  CHECK(scheduled.schedule.active == 5);
  CHECK(scheduled.warmup);
  CHECK(options_of("linear --steps 7").schedule.active == 7);
  CHECK(says(refusal_of("linear --steps 7 --schedule 1,1,1"), "excludes"));
  CHECK(says(refusal_of("linear --schedule 1,1"), "--schedule"));
  CHECK(says(refusal_of("linear --schedule 1,1,0"), "needs at least one active step."));
  CHECK(says(refusal_of("linear --schedule 1,-1,1"), "--schedule"));
}

TEST_CASE("results are compared up to size 256, and beyond when asked") {
  CHECK(options_of("addmm --size 256").check);
  CHECK_FALSE(options_of("addmm --size 257").check);
  CHECK(options_of("addmm --size 257 --check").check);
  CHECK_FALSE(options_of("addmm --no-check").check);
}

TEST_CASE("what is unknown is refused with the words that are known") {
  CHECK(says(refusal_of("matmul"), "\"matmul\" is none of matmul-add, addmm, bmm, linear,"));
  CHECK(says(refusal_of("3"), "\"3\" is none of"));
  CHECK(says(refusal_of("bmm --dtype fp8"), "\"fp8\" is none of bf16, fp16, fp32, tf32. Run"));
  CHECK(says(refusal_of("addmm --variant plain"), "\"plain\" is none of"));
  CHECK(says(refusal_of(""), "NAME"));
  CHECK(says(refusal_of("bmm --size 0"), "--size"));
  CHECK(says(refusal_of("bmm --steps 0"), "--steps"));
}

TEST_CASE("what does not go together is refused with a sentence") {
  CHECK(says(refusal_of("mul-add --batch 2"), "mul-add has no batch."));
  CHECK(says(refusal_of("mul-add --variant copy"), "mul-add has no variant copy."));
  CHECK(says(refusal_of("bmm --train"), "--train belongs to geglu-mlp."));
  CHECK(says(refusal_of("bmm --occupancy-query"), "--occupancy-query belongs to syncs."));
  CHECK(says(refusal_of("syncs --graph"), "syncs cannot be captured as a CUDA graph."));
  CHECK(says(refusal_of("streams --graph"), "streams cannot be captured as a CUDA graph."));
  CHECK(options_of("geglu-mlp --train --graph").graph);
}

TEST_CASE("help names every case and is no failure") {
  const auto result = parsed("--help");
  REQUIRE(std::holds_alternative<Answer>(result));
  CHECK(std::get<Answer>(result).exit_code == 0);
  for (const CaseRow& row : case_rows()) {
    CHECK(says(std::get<Answer>(result).text, std::string(row.name) + " "));
    CHECK(says(std::get<Answer>(result).text, std::string(row.about)));
  }
}
