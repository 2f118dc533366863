#include "app/cli/ranks_command.h"

#include <CLI/CLI.hpp>

namespace gapscope {

std::shared_ptr<RanksOptions> declare_ranks_options(CLI::App& arguments) {
  auto options = std::make_shared<RanksOptions>();
  arguments.add_option("TRACE", options->paths, "a folder with one trace a rank, or the traces themselves")
      ->required()
      ->type_name("DIR|FILE...");
  auto* json = arguments.add_flag("--json", options->json, "print JSON");
  arguments
      .add_option_function<std::string>(
          "--csv", [options](const std::string& word) { options->csv = run_table_from(word); },
          "print a table as TraceLens has it")
      ->check(CLI::IsMember({"sync", "summary", "straggler", "alltoall"}))
      ->excludes(json);
  arguments
      .add_option_function<std::string>(
          "--align",
          [options](const std::string& word) {
            options->alignment = alignment_from(word).value_or(ClockAlignment::collectives);
          },
          "how clocks become one: by the ends of collectives, as the files state them, or not at all")
      ->check(CLI::IsMember({"collectives", "base", "none"}))
      ->default_str("collectives");
  return options;
}

std::function<int()> declare_ranks(CLI::App& arguments) {
  return [options = declare_ranks_options(arguments)] { return ranks(*options); };
}

}  // namespace gapscope
