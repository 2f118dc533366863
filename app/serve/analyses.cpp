#include "app/serve/analyses.h"

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/mcp/child.h"
#include "core/base/failure.h"

namespace gapscope {
namespace {

using Text = Result<std::string>;
using Outcome = AnalysisAnswer::Kind;

// Standard output of a command; where there is none, what it said.
Text printed(const std::string& program, const AllowedFolders& folders, const std::vector<std::string>& words,
             const std::stop_token& stop) {
  Result<ChildResult> done = run_child(program, *folders.readable(), words, {}, stop);
  if (!done) return done.error();
  if (!done->out.empty()) return std::move(done->out);
  return Error{done->error.empty() ? fmt::format("It ended with {}.", done->exit_code) : done->error};
}

std::vector<std::string> ranks_words(const std::vector<std::string>& files, std::vector<std::string> options = {}) {
  std::vector<std::string> words = std::move(options);
  words.insert(words.begin(), "ranks");
  words.emplace_back("--");
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

AnalysisAnswer answer_of(Text text) {
  if (!text) return {Outcome::failed, text.error().message};
  return {Outcome::done, std::move(*text)};
}

}  // namespace

AnalysisAnswer Analyses::run(Work work, const IsGone& is_gone) {
  using namespace std::chrono_literals;
  const auto answer = std::make_shared<std::promise<Text>>();
  std::future<Text> done = answer->get_future();
  const std::uint64_t id = ++next_id_;
  const auto call = [answer, work = std::move(work)](const std::stop_token& stop) {
    try {
      answer->set_value(work(stop));
    } catch (...) {
      answer->set_value(current_failure("answer"));
    }
  };
  if (!calls_.put(id, call))
    return {Outcome::busy, fmt::format("{} questions wait already. Ask again when some are answered.", Calls::kMostWaiting)};
  while (done.wait_for(100ms) != std::future_status::ready) {
    if (!ending_ && !is_gone()) continue;
    calls_.cancel(id);
    return {Outcome::busy, "The server ends, or no client waits any more."};
  }
  return answer_of(done.get());
}

AnalysisAnswer Analyses::tool(const std::string& name, const Tools::Texts& arguments, const IsGone& is_gone) {
  if (!tools_.knows(name)) return {Outcome::unknown, "There is no such analysis."};
  Result<nlohmann::ordered_json> values = tools_.arguments_of(name, arguments);
  if (!values) return {Outcome::failed, values.error().message};
  return run(
      [this, name, values = std::move(*values)](const std::stop_token& stop) { return tools_.answer(name, values, stop); },
      is_gone);
}

AnalysisAnswer Analyses::command(std::vector<std::string> words, const IsGone& is_gone) {
  return run([this, words = std::move(words)](const std::stop_token& stop) { return printed(program_, folders_, words, stop); },
             is_gone);
}

AnalysisAnswer Analyses::overview_page(const std::string& file, const IsGone& is_gone) {
  return command({"overview", "--html=-", "--", file}, is_gone);
}

AnalysisAnswer Analyses::diff_page(const std::string& before, const std::string& after, const IsGone& is_gone) {
  return command({"diff", "--html=-", "--", before, after}, is_gone);
}

AnalysisAnswer Analyses::ranks_json(const std::vector<std::string>& files, const IsGone& is_gone) {
  return command(ranks_words(files, {"--json"}), is_gone);
}

ItemSummary Analyses::summary(const ListedItem& item, const std::stop_token& stop) const {
  const auto failed = [](const Error& why) { return ItemSummary{{}, {}, why.message, true}; };
  if (!item.is_run) {
    const Text json = tools_.answer("overview", {{"trace", item.path}}, stop);
    return json ? summary_of_overview(*json) : failed(json.error());
  }
  const auto files = folders_.files(item.path);
  if (!files) return failed(files.error());
  const Text text = printed(program_, folders_, ranks_words(*files), stop);
  return text ? summary_of_ranks(*text) : failed(text.error());
}

}  // namespace gapscope
