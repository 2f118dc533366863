#pragma once
// What the program says of a recording when it is called as a command: in processes of their own, a few at once, as for
// assistants (app/mcp), each within its time, and ended when no client waits for it any more.
#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/mcp/calls.h"
#include "app/mcp/tools.h"
#include "app/serve/summaries.h"

namespace gapscope {

struct AnalysisAnswer {
  enum class Kind { done, failed, busy, unknown };
  Kind kind = Kind::done;
  std::string text;  // what it prints, or a sentence
};

class Analyses {
 public:
  // Whether the one who asked has left.
  using IsGone = std::function<bool()>;

  // `sources`: as Tools has it.
  Analyses(std::string program, AllowedFolders folders, std::vector<std::string> sources)
      : program_(program), folders_(folders), tools_(std::move(program), std::move(folders), std::move(sources)) {}

  // A command with its --json, as an assistant calls it: arguments as texts.
  AnalysisAnswer tool(const std::string& name, const Tools::Texts& arguments, const IsGone& is_gone);
  // Files are absolute.
  AnalysisAnswer overview_page(const std::string& file, const IsGone& is_gone);
  AnalysisAnswer diff_page(const std::string& before, const std::string& after, const IsGone& is_gone);
  AnalysisAnswer ranks_json(const std::vector<std::string>& files, const IsGone& is_gone);
  // Waits for it on the calling thread alone.
  ItemSummary summary(const ListedItem& item, const std::stop_token& stop) const;
  // Waiting clients are answered soon.
  void end() { ending_ = true; }

 private:
  using Work = std::function<Result<std::string>(const std::stop_token&)>;
  AnalysisAnswer run(Work work, const IsGone& is_gone);
  AnalysisAnswer command(std::vector<std::string> words, const IsGone& is_gone);

  std::string program_;
  AllowedFolders folders_;
  Tools tools_;
  std::atomic<bool> ending_{false};
  std::atomic<std::uint64_t> next_id_{0};
  Calls calls_;  // last: it uses the rest
};

}  // namespace gapscope
