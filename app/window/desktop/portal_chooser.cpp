#include "app/window/desktop/portal_chooser.h"

#include <dbus/dbus.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>

#include "core/base/text.h"
#include "ui/start/path_completion.h"

namespace gapscope {
namespace {

constexpr const char* kPortal = "org.freedesktop.portal.Desktop";
constexpr const char* kObject = "/org/freedesktop/portal/desktop";
constexpr const char* kChooser = "org.freedesktop.portal.FileChooser";
constexpr const char* kRequest = "org.freedesktop.portal.Request";
constexpr int kAnswerMs = 3000;  // for a call; the dialog itself may stay open for ever
constexpr int kPollMs = 100;
constexpr std::array<const char*, 9> kPatterns = {"*.json",   "*.json.gz", "*.json.xz", "*.json.zst", "*.zip",
                                                  "*.tar.gz", "*.tgz",     "*.tar.xz",  "*.tar"};

struct Unref {
  void operator()(DBusMessage* message) const { dbus_message_unref(message); }
  void operator()(DBusConnection* bus) const {
    dbus_connection_close(bus);
    dbus_connection_unref(bus);
  }
};
using Message = std::unique_ptr<DBusMessage, Unref>;
using Bus = std::unique_ptr<DBusConnection, Unref>;

// libdbus would start a bus of its own where it finds none.
bool has_bus() {
  if (const char* address = std::getenv("DBUS_SESSION_BUS_ADDRESS")) return *address != 0;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime && access((std::string(runtime) + "/bus").c_str(), F_OK) == 0;
}

Bus connected() {
  if (!has_bus()) return nullptr;
  Bus bus(dbus_bus_get_private(DBUS_BUS_SESSION, nullptr));
  if (bus) dbus_connection_set_exit_on_disconnect(bus.get(), FALSE);
  return bus;
}

Message answer_of(DBusConnection* bus, DBusMessage* call) {
  return Message(dbus_connection_send_with_reply_and_block(bus, call, kAnswerMs, nullptr));
}

// The writing half of a message. Each give what they are called in the portal's interface.
class Writer {
 public:
  explicit Writer(DBusMessage* message) { dbus_message_iter_init_append(message, &at_); }
  void text(const char* value) { dbus_message_iter_append_basic(&at_, DBUS_TYPE_STRING, &value); }
  void number(std::uint32_t value) { dbus_message_iter_append_basic(&at_, DBUS_TYPE_UINT32, &value); }
  void yes() {
    const dbus_bool_t value = TRUE;
    dbus_message_iter_append_basic(&at_, DBUS_TYPE_BOOLEAN, &value);
  }
  template <class Fill>
  void within(int type, const char* signature, Fill fill) {
    Writer inner;
    dbus_message_iter_open_container(&at_, type, signature, &inner.at_);
    fill(inner);
    dbus_message_iter_close_container(&at_, &inner.at_);
  }
  template <class Fill>
  void option(const char* key, const char* signature, Fill fill) {
    within(DBUS_TYPE_DICT_ENTRY, nullptr, [&](Writer& entry) {
      entry.text(key);
      entry.within(DBUS_TYPE_VARIANT, signature, fill);
    });
  }
  // With the zero at its end, as the portal wants paths.
  void bytes(const std::string& value) {
    within(DBUS_TYPE_ARRAY, "y", [&](Writer& array) {
      const char* data = value.c_str();
      dbus_message_iter_append_fixed_array(&array.at_, DBUS_TYPE_BYTE, &data, static_cast<int>(value.size() + 1));
    });
  }

 private:
  Writer() = default;
  DBusMessageIter at_;
};

template <class Pattern>
void write_filter(Writer& filters, const char* name, const Pattern& patterns) {
  filters.within(DBUS_TYPE_STRUCT, nullptr, [&](Writer& filter) {
    filter.text(name);
    filter.within(DBUS_TYPE_ARRAY, "(us)", [&](Writer& list) {
      for (const char* pattern : patterns)
        list.within(DBUS_TYPE_STRUCT, nullptr, [&](Writer& one) {
          one.number(0);  // a pattern, not a media type
          one.text(pattern);
        });
    });
  });
}

struct DialogWanted {
  const char* method;
  const char* title;
  const std::string& folder;
};

// `more` writes the options that are the method's own.
template <class More>
Message dialog_call(const DialogWanted& wanted, const std::string& token, const More& more) {
  Message call(dbus_message_new_method_call(kPortal, kObject, kChooser, wanted.method));
  if (!call) return nullptr;
  Writer writer(call.get());
  writer.text("");  // no parent window
  writer.text(wanted.title);
  writer.within(DBUS_TYPE_ARRAY, "{sv}", [&](Writer& options) {
    options.option("handle_token", "s", [&](Writer& value) { value.text(token.c_str()); });
    more(options);
    if (!wanted.folder.empty()) options.option("current_folder", "ay", [&](Writer& value) { value.bytes(wanted.folder); });
  });
  return call;
}

Message open_file_call(const std::string& folder, const std::string& token, bool several) {
  return dialog_call({"OpenFile", "Open a trace", folder}, token, [&](Writer& options) {
    options.option("filters", "a(sa(us))", [&](Writer& value) {
      value.within(DBUS_TYPE_ARRAY, "(sa(us))", [&](Writer& filters) {
        write_filter(filters, "Traces", kPatterns);
        write_filter(filters, "All files", std::array{"*"});
      });
    });
    if (several) options.option("multiple", "b", [&](Writer& value) { value.yes(); });
  });
}

Message save_file_call(const std::string& folder, const std::string& token, const std::string& name) {
  return dialog_call({"SaveFile", "Save as", folder}, token, [&](Writer& options) {
    options.option("current_name", "s", [&](Writer& value) { value.text(name.c_str()); });
  });
}

// Where the portal sends the answer: known before it is asked, so that none is missed.
std::string request_path(DBusConnection* bus, const std::string& token) {
  std::string sender = dbus_bus_get_unique_name(bus);
  sender.erase(0, 1);
  std::replace(sender.begin(), sender.end(), '.', '_');
  return std::string(kObject) + "/request/" + sender + "/" + token;
}

void listen_to(DBusConnection* bus, const std::string& request) {
  dbus_bus_add_match(
      bus, ("type='signal',interface='" + std::string(kRequest) + "',member='Response',path='" + request + "'").c_str(),
      nullptr);
  dbus_connection_flush(bus);
}

// "uris", as paths; empty where there are none.
std::vector<std::string> chosen_in(DBusMessageIter results) {
  for (DBusMessageIter entries = results; dbus_message_iter_get_arg_type(&entries) == DBUS_TYPE_DICT_ENTRY;
       dbus_message_iter_next(&entries)) {
    DBusMessageIter entry, value, uris;
    dbus_message_iter_recurse(&entries, &entry);
    const char* key = nullptr;
    dbus_message_iter_get_basic(&entry, &key);
    if (std::string_view(key) != "uris" || !dbus_message_iter_next(&entry)) continue;
    dbus_message_iter_recurse(&entry, &value);
    if (dbus_message_iter_get_arg_type(&value) != DBUS_TYPE_ARRAY ||
        dbus_message_iter_get_element_type(&value) != DBUS_TYPE_STRING)
      continue;
    dbus_message_iter_recurse(&value, &uris);
    std::vector<std::string> paths;
    for (; dbus_message_iter_get_arg_type(&uris) == DBUS_TYPE_STRING; dbus_message_iter_next(&uris)) {
      const char* uri = nullptr;
      dbus_message_iter_get_basic(&uris, &uri);
      if (std::optional<std::string> path = copied_path(uri)) paths.push_back(std::move(*path));
    }
    return paths;
  }
  return {};
}

// Of the signal "Response": 0 where something was chosen, and what.
std::vector<std::string> read_response(DBusMessage* response) {
  if (!dbus_message_has_signature(response, "ua{sv}")) return {};
  DBusMessageIter args, results;
  dbus_message_iter_init(response, &args);
  std::uint32_t code = 0;
  dbus_message_iter_get_basic(&args, &code);
  dbus_message_iter_next(&args);
  dbus_message_iter_recurse(&args, &results);
  return code == 0 ? chosen_in(results) : std::vector<std::string>();
}

void close_request(DBusConnection* bus, const std::string& request) {
  const Message call(dbus_message_new_method_call(kPortal, request.c_str(), kRequest, "Close"));
  if (!call) return;
  dbus_connection_send(bus, call.get(), nullptr);
  dbus_connection_flush(bus);
}

std::vector<std::string> await_response(DBusConnection* bus, const std::string& request, const std::function<bool()>& ends) {
  while (!ends()) {
    if (!dbus_connection_read_write(bus, kPollMs)) return {};
    while (const Message message{dbus_connection_pop_message(bus)})
      if (dbus_message_is_signal(message.get(), kRequest, "Response") && dbus_message_has_path(message.get(), request.c_str()))
        return read_response(message.get());
  }
  close_request(bus, request);
  return {};
}

}  // namespace

bool has_portal_chooser() {
  const Bus bus = connected();
  const Message call(dbus_message_new_method_call(kPortal, kObject, "org.freedesktop.DBus.Properties", "Get"));
  if (!bus || !call) return false;
  const char *interface = kChooser, *name = "version";
  dbus_message_append_args(call.get(), DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING, &name, DBUS_TYPE_INVALID);
  const Message answer = answer_of(bus.get(), call.get());
  return answer && dbus_message_get_type(answer.get()) == DBUS_MESSAGE_TYPE_METHOD_RETURN;
}

namespace {

// Makes the call of that token and waits for what is chosen.
std::optional<std::vector<std::string>> ask_portal(const std::function<Message(const std::string& token)>& make_call,
                                                   const std::function<bool()>& ends) {
  static std::atomic<std::uint32_t> count{0};
  const Bus bus = connected();
  if (!bus) return std::nullopt;
  const std::string token = "gapscope" + std::to_string(++count);
  std::string request = request_path(bus.get(), token);
  listen_to(bus.get(), request);
  const Message call = make_call(token);
  const Message answer = call ? answer_of(bus.get(), call.get()) : nullptr;
  const char* handle = nullptr;
  if (!answer || !dbus_message_get_args(answer.get(), nullptr, DBUS_TYPE_OBJECT_PATH, &handle, DBUS_TYPE_INVALID))
    return std::nullopt;
  if (request != handle) {  // portals before 0.9 choose the path themselves
    request = handle;
    listen_to(bus.get(), request);
  }
  return await_response(bus.get(), request, ends);
}

}  // namespace

std::optional<std::vector<std::string>> choose_by_portal(const std::string& folder, bool several,
                                                         const std::function<bool()>& ends) {
  return ask_portal([&](const std::string& token) { return open_file_call(folder, token, several); }, ends);
}

std::optional<std::vector<std::string>> save_by_portal(const std::string& folder, const std::string& name,
                                                       const std::function<bool()>& ends) {
  return ask_portal([&](const std::string& token) { return save_file_call(folder, token, printable(name)); }, ends);
}

}  // namespace gapscope
