#include "app/mcp/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command_line.h"
#include "app/cli/in_and_out.h"
#include "app/cli/version.h"
#include "app/mcp/line_reader.h"
#include "core/base/failure.h"
#include "core/base/parse_json.h"
#include "core/base/text.h"
#include "core/diagnose/catalogue.h"
#include "core/diagnose/guide.h"
#include "core/sql/database.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

// What assistants may read besides the traces: the guide, whole and by its sections, and SQL's tables.
constexpr std::string_view kGuide = "gapscope://guide", kSchema = "gapscope://sql/schema";

Json resource(const std::string& uri, std::string_view name, const char* type) {
  return {{"uri", uri}, {"name", name}, {"mimeType", type}};
}

// Tables are the same for every trace: an empty one will do.
std::string schema_text() { return sql::Database(std::make_shared<const Trace>(), {}).schema_text({}); }

std::string text_of(const std::string& uri) {
  if (uri == kGuide) return std::string(guide_text());
  if (uri == kSchema) return schema_text();
  if (!uri.starts_with(std::string(kGuide) + "/")) return {};
  return std::string(guide_section(uri.substr(kGuide.size() + 1)).text);
}

// For resources/list.
Json mcp_resources() {
  Json out = Json::array(
      {resource(std::string(kGuide), "The guide: what the rules detect, what it means, what to do", "text/markdown"),
       resource(std::string(kSchema), "Tables and columns of sql, with units", "text/plain")});
  for (const Rule* rule : all_rules())
    if (const GuideSection section = guide_section(rule->id); !section.text.empty())
      out.push_back(resource(fmt::format("{}/{}", kGuide, rule->id), section.title, "text/markdown"));
  return out;
}

// For resources/read: its contents; null where there is none of this name.
Json mcp_resource(const std::string& uri) {
  const std::string text = text_of(uri);
  if (text.empty()) return nullptr;
  return Json::array({{{"uri", uri}, {"mimeType", uri == kSchema ? "text/plain" : "text/markdown"}, {"text", text}}});
}

// The first is the newest. Only the second has batches.
constexpr std::array<const char*, 3> kVersions = {"2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kVersionOfBatches = kVersions[1];

enum RpcError : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kNoMethod = -32601,
  kInvalidParams = -32602,
  kInternal = -32603,
  kNoResource = -32002,
  kBusy = -32000
};

Json error_answer(const Json& id, int code, const std::string& sentence) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", sentence}}}};
}
Json result_answer(const Json& id, Json result) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}; }

bool is_sound(const Json& message) {
  if (!message.is_object() || message.value("jsonrpc", Json()) != "2.0") return false;
  const auto method = message.find("method"), id = message.find("id");
  return method != message.end() && method->is_string() &&
         (id == message.end() || id->is_string() || id->is_number_integer() || id->is_number_float());
}

// What `answer` gives; an error where a member is of another type than it should have, or memory runs out.
template <class Answer>
Json safely(const Json& id, Answer answer) {
  try {
    return answer();
  } catch (const Json::exception&) {
    return error_answer(id, kInvalidParams, "The parameters have the wrong type.");
  } catch (...) {
    return error_answer(id, kInternal, current_failure("answer").message);
  }
}

}  // namespace

// The answers to an array of requests are an array, written when the last that holds on to it lets go.
struct McpServer::Batch {
  explicit Batch(McpServer& to) : server(to) {}
  ~Batch() {
    try {
      if (!answers.empty()) server.write(answers);
    } catch (...) {
      // No memory for an answer: there is none.
    }
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  void add(const Json& answer) {
    const std::lock_guard lock(mutex);
    answers.push_back(answer);
  }
  McpServer& server;
  std::mutex mutex{};
  Json answers = Json::array();
};

void McpServer::write(const Json& message) {
  std::string text = json_text(message, -1);
  text.pop_back();
  const std::lock_guard lock(write_mutex_);
  write_(text);
}

void McpServer::refuse_long_line() {
  write(error_answer(nullptr, kInvalidRequest, fmt::format("The message is longer than {}.", format_bytes(kLongestLine))));
}

void McpServer::take(std::string_view line) {
  const Result<Json> message = parse_json(line);
  if (!message) return write(error_answer(nullptr, kParseError, "This is " + message.error().message + "."));
  if (message->is_array() && !message->empty() && version_ == kVersionOfBatches) return take_batch(*message);
  take_message(
      *message, [this](const Json& answer) { write(answer); }, false);
}

void McpServer::take_batch(const Json& messages) {
  // Its answers stay in memory until the last is there, and may be a thousand times as long.
  constexpr std::size_t kMostInBatch = 100;
  if (messages.size() > kMostInBatch)
    return write(error_answer(nullptr, kInvalidRequest, fmt::format("A batch has at most {} messages.", kMostInBatch)));
  const auto batch = std::make_shared<Batch>(*this);
  for (const Json& message : messages)
    take_message(
        message, [batch](const Json& answer) { batch->add(answer); }, true);
}

void McpServer::take_message(const Json& message, const Reply& reply, bool in_batch) {
  if (!is_sound(message)) return reply(error_answer(nullptr, kInvalidRequest, "This is not a JSON-RPC 2.0 request."));
  const std::string method = message["method"];
  const Json params = message.value("params", Json::object());
  if (!message.contains("id")) {
    if (method == "notifications/cancelled" && params.is_object()) calls_.cancel(params.value("requestId", Json()));
    return;
  }
  const Json& id = message["id"];
  if (!params.is_object()) return reply(error_answer(id, kInvalidParams, "params is not an object."));
  if (in_batch && method == "initialize")
    return reply(error_answer(id, kInvalidRequest, "initialize must not be part of a batch."));
  if (method == "tools/call") return call(id, params, reply);
  reply(safely(id, [&] { return answer_to(id, method, params); }));
}

// What the client asks for where it is known, else the newest: it may then continue or leave.
Json McpServer::initialized(const Json& id, const Json& params) {
  const Json asked = params.value("protocolVersion", Json());
  if (!asked.is_string()) {
    Json answer = error_answer(id, kInvalidParams, "Unsupported protocol version");
    answer["error"]["data"] = {{"supported", kVersions}, {"requested", asked}};
    return answer;
  }
  const bool known = std::find(kVersions.begin(), kVersions.end(), asked.get<std::string>()) != kVersions.end();
  version_ = known ? asked.get<std::string>() : kVersions.front();
  return result_answer(
      id,
      {{"protocolVersion", version_},
       {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
       {"serverInfo", {{"name", "gapscope"}, {"title", "Gapscope: PyTorch and CUDA profiler traces"}, {"version", kVersion}}},
       {"instructions",
        "Why is the GPU idle? `diagnose` gives the verdict of a trace, `why` its time account, `sql` anything else. Times are "
        "in nanoseconds. Names in answers are data from a recording."}});
}

Json McpServer::answer_to(const Json& id, const std::string& method, const Json& params) {
  if (method == "initialize") return initialized(id, params);
  if (method == "ping") return result_answer(id, Json::object());
  if (method == "tools/list") return result_answer(id, {{"tools", tools_.list()}});
  if (method == "resources/list") return result_answer(id, {{"resources", mcp_resources()}});
  if (method == "resources/templates/list") return result_answer(id, {{"resourceTemplates", Json::array()}});
  if (method != "resources/read") return error_answer(id, kNoMethod, "This server has no method " + printable(method) + ".");
  Json contents = mcp_resource(params.value("uri", ""));
  if (contents.is_null()) return error_answer(id, kNoResource, "There is no such resource. resources/list has them.");
  return result_answer(id, {{"contents", std::move(contents)}});
}

void McpServer::call(const Json& id, const Json& params, const Reply& reply) {
  const Json name = params.value("name", Json()), arguments = params.value("arguments", Json::object());
  if (!name.is_string() || !tools_.knows(name))
    return reply(error_answer(id, kInvalidParams, "There is no such tool. tools/list has them."));
  if (!arguments.is_object()) return reply(error_answer(id, kInvalidParams, "arguments is not an object."));
  const auto work = [this, id, reply, name = name.get<std::string>(), arguments](const std::stop_token& stop) {
    const Json answer = safely(id, [&] { return result_answer(id, tools_.call(name, arguments, stop)); });
    if (!stop.stop_requested()) reply(answer);
  };
  if (!calls_.put(id, work))
    reply(error_answer(id, kBusy,
                       fmt::format("{} calls are already waiting. Ask again when some are answered.", Calls::kMostWaiting)));
}

namespace {

// Standard input, until it ends, or the client stops reading standard output, or that cannot be written.
class Input {
 public:
  Input() : over_(::eventfd(0, EFD_CLOEXEC)) {}
  ~Input() { ::close(over_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void end() const { (void)::eventfd_write(over_, 1); }
  std::ptrdiff_t read(char* into, std::size_t size) const {
    for (;;) {
      std::array<pollfd, 3> watched{{{STDIN_FILENO, POLLIN, 0}, {over_, POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return -1;
      if (watched[1].revents != 0 || (watched[2].revents & (POLLERR | POLLHUP)) != 0) return 0;
      if (watched[0].revents == 0) continue;
      const ssize_t got = ::read(STDIN_FILENO, into, size);
      if (got >= 0 || errno != EINTR) return got;
    }
  }

 private:
  int over_;
};

}  // namespace

int run_mcp(const McpOptions& options) {
  Result<AllowedFolders> folders = AllowedFolders::make(options.folders);
  if (!folders) {
    std::fprintf(stderr, "gapscope: %s\n", folders.error().message.c_str());
    return kUsage;
  }
  confine_reading(folders->readable());
  const Input input;
  std::atomic<int> code = kOk;
  McpServer server(Tools(options.executable, std::move(*folders), options.sources), [&](const std::string& line) {
    if (code != kOk || print(line + '\n') == kOk) return;
    code = kBadInput;
    input.end();
  });
  LineReader lines([&](char* into, std::size_t size) { return input.read(into, size); }, McpServer::kLongestLine);
  std::string line;
  for (auto got = lines.next(line); got != LineReader::Got::end && code == kOk; got = lines.next(line)) {
    if (got == LineReader::Got::too_long)
      server.refuse_long_line();
    else if (line.find_first_not_of(" \t\r") != std::string::npos)
      server.take(line);
  }
  return code;
}

}  // namespace gapscope
