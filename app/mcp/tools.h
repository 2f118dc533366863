#pragma once
// The tools that the server offers: each is a command of this program, and answers with its --json.
#include <stop_token>
#include <string>

#include <nlohmann/json.hpp>

#include "app/mcp/allowed_folders.h"

namespace gapscope {

class Tools {
 public:
  // `program`: this executable.
  Tools(std::string program, AllowedFolders folders) : program_(std::move(program)), folders_(std::move(folders)) {}

  // For tools/list: name, description and input schema of each, with units.
  nlohmann::ordered_json list() const;
  bool knows(const std::string& name) const;
  // For tools/call: content, and isError where the tool could not do it. `arguments` is an object. Ends soon when `stop` says
  // so.
  nlohmann::ordered_json call(const std::string& name, const nlohmann::ordered_json& arguments,
                              const std::stop_token& stop) const;

 private:
  nlohmann::ordered_json open(const nlohmann::ordered_json& arguments) const;
  nlohmann::ordered_json screenshot(const std::vector<std::string>& command, const std::stop_token& stop) const;

  std::string program_;
  AllowedFolders folders_;
};

}  // namespace gapscope
