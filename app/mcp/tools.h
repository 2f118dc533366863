#pragma once
// The tools that the server offers: each is a command of this program, and answers with its --json.
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/mcp/allowed_folders.h"

namespace gapscope {

class Tools {
 public:
  // `program`: this executable. `sources`: where its pictures may show lines of source from, as `screenshot --sources` has it.
  Tools(std::string program, AllowedFolders folders, std::vector<std::string> sources = {})
      : program_(std::move(program)), folders_(std::move(folders)), sources_(std::move(sources)) {}

  // For tools/list: name, description and input schema of each, with units.
  nlohmann::ordered_json list() const;
  bool knows(const std::string& name) const;
  // What its command prints with its --json, whole; of screenshot the picture. An Error: what the command said. Ends soon when
  // `stop` says so.
  Result<std::string> answer(const std::string& name, const nlohmann::ordered_json& arguments,
                             const std::stop_token& stop) const;
  // The arguments of a tool from texts, each of the kind that it has: "3", "true"; what is a list once or more.
  using Texts = std::vector<std::pair<std::string, std::string>>;
  Result<nlohmann::ordered_json> arguments_of(const std::string& name, const Texts& texts) const;
  // For tools/call: content, and isError where the tool could not do it. `arguments` is an object. Ends soon when `stop` says
  // so.
  nlohmann::ordered_json call(const std::string& name, const nlohmann::ordered_json& arguments,
                              const std::stop_token& stop) const;

 private:
  nlohmann::ordered_json open(const nlohmann::ordered_json& arguments) const;

  std::string program_;
  AllowedFolders folders_;
  std::vector<std::string> sources_;
};

}  // namespace gapscope
