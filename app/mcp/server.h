#pragma once
// `gapscope mcp FOLDER...`: the Model Context Protocol on standard input and output: JSON-RPC 2.0, a message a line. Whoever
// reads never waits for a tool: those run in processes of their own, and end when no client is there for their answer.
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/calls.h"
#include "app/mcp/tools.h"

namespace gapscope {

struct McpOptions {
  std::string executable;
  std::vector<std::string> folders;  // only files below these are opened
  std::vector<std::string> sources;  // and of source those below these, for pictures
};

class McpServer {
 public:
  // Takes an answer, a line without its end: from any thread, one at a time.
  using Write = std::function<void(const std::string& line)>;

  McpServer(Tools tools, Write write) : tools_(std::move(tools)), write_(std::move(write)) {}
  // A line as it came. What is known at once is answered before this returns, a call of a tool when it is done.
  void take(std::string_view line);
  void refuse_long_line();
  static constexpr std::size_t kLongestLine = std::size_t{4} << 20;

 private:
  using Json = nlohmann::ordered_json;
  using Reply = std::function<void(const Json& answer)>;
  struct Batch;

  void write(const Json& message);
  void take_batch(const Json& messages);
  void take_message(const Json& message, const Reply& reply, bool in_batch);
  Json answer_to(const Json& id, const std::string& method, const Json& params);
  Json initialized(const Json& id, const Json& params);
  void call(const Json& id, const Json& params, const Reply& reply);

  Tools tools_;
  Write write_;
  std::mutex write_mutex_;
  std::string version_;  // of the protocol, as agreed; empty before
  Calls calls_;          // last: it uses the rest
};

// Serves until input ends, or the client stops reading. The exit code.
int run_mcp(const McpOptions& options);

}  // namespace gapscope
