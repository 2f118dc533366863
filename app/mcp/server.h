#pragma once
// `gapscope mcp FOLDER...`: the Model Context Protocol on standard input and output: JSON-RPC 2.0, a message a line.
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/tools.h"

namespace gapscope {

struct McpOptions {
  std::string executable;
  std::vector<std::string> folders;  // only files below these are opened
};

class McpServer {
 public:
  explicit McpServer(Tools tools) : tools_(std::move(tools)) {}
  // The answer to a line, without line end; empty where none is due.
  std::string answer(std::string_view line) const;

 private:
  nlohmann::ordered_json answer_to(const nlohmann::ordered_json& message) const;
  Tools tools_;
};

// Serves until the end of input. The exit code.
int run_mcp(const McpOptions& options);

}  // namespace gapscope
