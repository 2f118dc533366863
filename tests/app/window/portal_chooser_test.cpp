// The portal's file chooser against a portal made here, on a bus of its own.
#include "app/window/desktop/portal_chooser.h"

#include <dbus/dbus.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <semaphore>
#include <string>
#include <thread>

#include "app/session/session.h"
#include "app/window/file_chooser.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"

extern char** environ;

using namespace gapscope;

namespace {

// A message bus for these tests alone, named in the environment; `address` is empty where the system has none. One for all of
// them: libdbus asks for the address once.
class TestBus {
 public:
  TestBus() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char name[] = "dbus-daemon", kind[] = "--session", stay[] = "--nofork", print[] = "--print-address";
    char* argv[] = {name, kind, stay, print, nullptr};
    const bool runs = posix_spawnp(&daemon_, name, &actions, nullptr, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char letter = 0;
    while (runs && read(ends[0], &letter, 1) == 1 && letter != '\n') address += letter;
    close(ends[0]);
    if (!runs) daemon_ = 0;
    setenv("DBUS_SESSION_BUS_ADDRESS", address.c_str(), 1);
  }
  ~TestBus() {
    setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
    if (daemon_ == 0) return;
    kill(daemon_, SIGTERM);
    waitpid(daemon_, nullptr, 0);
  }
  std::string address;

 private:
  pid_t daemon_ = 0;
};

// Answers OpenFile and SaveFile as a desktop does after a while: with `uri`, or without a choice where it is empty. Never where
// it is "wait".
class Portal {
 public:
  explicit Portal(std::string uri, std::string second = "")
      : uri_(std::move(uri)), second_(std::move(second)), thread_([this] { serve(); }) {
    while (!ready_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Portal() {
    ends_ = true;
    thread_.join();
  }
  std::atomic<bool> asked{false}, closed{false};
  std::string folder;    // that it was asked to begin in; read once `asked`
  bool several = false;  // whether more than one file may be chosen; likewise
  bool saves = false;    // whether it was asked where to save
  std::string name;      // that it was to offer for that

 private:
  void serve() {
    DBusConnection* bus = dbus_bus_get_private(DBUS_BUS_SESSION, nullptr);
    dbus_connection_set_exit_on_disconnect(bus, FALSE);
    dbus_bus_request_name(bus, "org.freedesktop.portal.Desktop", 0, nullptr);
    ready_ = true;
    while (!ends_ && dbus_connection_read_write(bus, 10))
      while (DBusMessage* message = dbus_connection_pop_message(bus)) {
        take(bus, message);
        dbus_message_unref(message);
      }
    dbus_connection_close(bus);
    dbus_connection_unref(bus);
  }

  void take(DBusConnection* bus, DBusMessage* message) {
    if (dbus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "Get")) return tell_version(bus, message);
    saves = dbus_message_is_method_call(message, "org.freedesktop.portal.FileChooser", "SaveFile");
    if (saves || dbus_message_is_method_call(message, "org.freedesktop.portal.FileChooser", "OpenFile"))
      return open(bus, message);
    if (dbus_message_is_method_call(message, "org.freedesktop.portal.Request", "Close")) closed = true;
  }

  static void send(DBusConnection* bus, DBusMessage* message) {
    dbus_connection_send(bus, message, nullptr);
    dbus_connection_flush(bus);
    dbus_message_unref(message);
  }

  static void tell_version(DBusConnection* bus, DBusMessage* call) {
    DBusMessage* reply = dbus_message_new_method_return(call);
    DBusMessageIter at, value;
    const std::uint32_t version = 3;
    dbus_message_iter_init_append(reply, &at);
    dbus_message_iter_open_container(&at, DBUS_TYPE_VARIANT, "u", &value);
    dbus_message_iter_append_basic(&value, DBUS_TYPE_UINT32, &version);
    dbus_message_iter_close_container(&at, &value);
    send(bus, reply);
  }

  void open(DBusConnection* bus, DBusMessage* call) {
    REQUIRE(dbus_message_has_signature(call, "ssa{sv}"));
    several = false;
    std::string token;
    DBusMessageIter args, options;
    dbus_message_iter_init(call, &args);
    dbus_message_iter_next(&args);
    dbus_message_iter_next(&args);
    dbus_message_iter_recurse(&args, &options);
    for (; dbus_message_iter_get_arg_type(&options) == DBUS_TYPE_DICT_ENTRY; dbus_message_iter_next(&options)) {
      DBusMessageIter entry, value;
      dbus_message_iter_recurse(&options, &entry);
      const char* key = nullptr;
      dbus_message_iter_get_basic(&entry, &key);
      dbus_message_iter_next(&entry);
      dbus_message_iter_recurse(&entry, &value);
      if (std::string(key) == "handle_token") {
        const char* text = nullptr;
        dbus_message_iter_get_basic(&value, &text);
        token = text;
      }
      if (std::string(key) == "current_name") {
        const char* text = nullptr;
        dbus_message_iter_get_basic(&value, &text);
        name = text;
      }
      if (std::string(key) == "multiple") {
        dbus_bool_t yes = FALSE;
        dbus_message_iter_get_basic(&value, &yes);
        several = yes == TRUE;
      }
      if (std::string(key) == "current_folder") {
        DBusMessageIter bytes;
        dbus_message_iter_recurse(&value, &bytes);
        const char* data = nullptr;
        int count = 0;
        dbus_message_iter_get_fixed_array(&bytes, &data, &count);
        folder.assign(data, static_cast<std::size_t>(count));
      }
    }
    std::string sender = dbus_message_get_sender(call) + 1;
    for (char& c : sender)
      if (c == '.') c = '_';
    const std::string request = "/org/freedesktop/portal/desktop/request/" + sender + "/" + token;
    DBusMessage* reply = dbus_message_new_method_return(call);
    const char* path = request.c_str();
    dbus_message_append_args(reply, DBUS_TYPE_OBJECT_PATH, &path, DBUS_TYPE_INVALID);
    send(bus, reply);
    asked = true;
    if (uri_ != "wait") respond(bus, path);
  }

  void respond(DBusConnection* bus, const char* request) {
    DBusMessage* signal = dbus_message_new_signal(request, "org.freedesktop.portal.Request", "Response");
    DBusMessageIter at, results;
    const std::uint32_t code = uri_.empty() ? 1 : 0;
    dbus_message_iter_init_append(signal, &at);
    dbus_message_iter_append_basic(&at, DBUS_TYPE_UINT32, &code);
    dbus_message_iter_open_container(&at, DBUS_TYPE_ARRAY, "{sv}", &results);
    if (!uri_.empty()) {
      DBusMessageIter entry, value, uris;
      const char *key = "uris", *uri = uri_.c_str();
      dbus_message_iter_open_container(&results, DBUS_TYPE_DICT_ENTRY, nullptr, &entry);
      dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
      dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "as", &value);
      dbus_message_iter_open_container(&value, DBUS_TYPE_ARRAY, "s", &uris);
      dbus_message_iter_append_basic(&uris, DBUS_TYPE_STRING, &uri);
      const char* second = second_.c_str();
      if (several && !second_.empty()) dbus_message_iter_append_basic(&uris, DBUS_TYPE_STRING, &second);
      dbus_message_iter_close_container(&value, &uris);
      dbus_message_iter_close_container(&entry, &value);
      dbus_message_iter_close_container(&results, &entry);
    }
    dbus_message_iter_close_container(&at, &results);
    send(bus, signal);
  }

  std::string uri_, second_;
  std::atomic<bool> ready_{false}, ends_{false};
  std::thread thread_;  // last: it uses the others
};

using Paths = std::vector<std::string>;

bool never() { return false; }

bool skipped() {
  static const TestBus bus;
  if (!bus.address.empty()) return false;
  std::cout << "SKIPPED: the portal's file chooser needs dbus-daemon, which is not here.\n";
  return true;
}

}  // namespace

TEST_CASE("without a bus there is no portal") {
  setenv("DBUS_SESSION_BUS_ADDRESS", "", 1);
  CHECK_FALSE(has_portal_chooser());
  CHECK_FALSE(choose_by_portal("/tmp", false, never));
}

TEST_CASE("a bus without a portal has no chooser") {
  if (skipped()) return;
  CHECK_FALSE(has_portal_chooser());
  CHECK_FALSE(choose_by_portal("/tmp", false, never));
}

TEST_CASE("the portal gives the file that was chosen, its name decoded") {
  if (skipped()) return;
  const Portal portal("file:///home/some%20body/a%25b.json.gz");
  CHECK(has_portal_chooser());
  CHECK(choose_by_portal("/home/some body", true, never) == Paths{"/home/some body/a%b.json.gz"});
  CHECK(portal.folder == std::string("/home/some body\0", 16));
}

TEST_CASE("several files can be chosen at once, where that is asked for") {
  if (skipped()) return;
  const Portal portal("file:///tmp/rank0.json", "file:///tmp/rank1.json");
  CHECK(choose_by_portal("", true, never) == Paths{"/tmp/rank0.json", "/tmp/rank1.json"});
  CHECK(choose_by_portal("", false, never) == Paths{"/tmp/rank0.json"});
}

TEST_CASE("the portal says where to save, and is offered a name that it can show") {
  if (skipped()) return;
  const Portal portal("file:///tmp/x%20y.html");
  CHECK(save_by_portal("/tmp", "a\xFF.overview.html", never) == Paths{"/tmp/x y.html"});
  CHECK(portal.saves);
  CHECK(portal.name == "a\xEF\xBF\xBD.overview.html");
  CHECK(portal.folder == std::string("/tmp\0", 5));
}

TEST_CASE("what is saved goes where the portal's dialog says, over what it asked about, and nowhere once it is closed") {
  if (skipped()) return;
  test::TempFolder folder;
  const std::string trace = folder.write("one.json", test::kOneLaunch), chosen = folder.write("chosen.html", "old");
  const auto files = [&] {
    const std::filesystem::directory_iterator all(folder.path());
    return std::distance(begin(all), end(all));
  };
  for (const bool closed : {true, false}) {
    const Portal portal(closed ? "" : "file://" + chosen);
    std::counting_semaphore<> woken{0};
    ViewState view;
    Session session{{{}, {}, folder.path().string(), [&] { woken.release(); }}};
    session.open(trace);
    const auto poll_until = [&](auto test) {
      for (int i = 0; i < 400 && !test(); ++i) {
        (void)woken.try_acquire_for(std::chrono::milliseconds(25));
        session.poll(view);
      }
      REQUIRE(test());
    };
    poll_until([&] { return !session.is_loading() && session.can_save_elsewhere(); });
    session.document()->diagnose();
    session.carry_out(SaveHtml{});
    poll_until([&] { return portal.asked.load(); });
    CHECK(portal.name == "one.overview.html");
    if (closed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      session.poll(view);
      CHECK(session.message().empty());
    } else {
      poll_until([&] { return session.message() == "Saved " + chosen; });
      CHECK(std::filesystem::file_size(chosen) > 1000);
    }
    CHECK(files() == 2);
  }
}

TEST_CASE("a dialog that is closed without a choice gives no file") {
  if (skipped()) return;
  const Portal portal("");
  CHECK(choose_by_portal("", false, never) == Paths{});
  CHECK(portal.folder.empty());
}

TEST_CASE("a dialog that no one waits for is closed") {
  if (skipped()) return;
  const Portal portal("wait");
  CHECK(choose_by_portal("", false, [&] { return portal.asked.load(); }) == Paths{});
  for (int i = 0; i < 2000 && !portal.closed; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(portal.closed);
}

TEST_CASE("the portal is preferred to programs") {
  if (skipped()) return;
  const Portal portal("file:///tmp/x.json");
  std::atomic<int> woken{0};
  FileChooser chooser([&] { ++woken; });
  for (int i = 0; i < 5000 && woken == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(chooser.available());
  chooser.ask({"/tmp/", true});
  for (int i = 0; i < 5000 && woken < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto answer = chooser.take();
  REQUIRE(answer);
  CHECK(answer->paths == Paths{"/tmp/x.json"});
  CHECK(answer->as_second);
}
