#pragma once
// The file chooser of a desktop's portal, by D-Bus: the dialog that the desktop's own programs show, also out of a sandbox.
// Source: https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html
#include <functional>
#include <optional>
#include <string>

namespace gapscope {

// Whether the session has such a portal. Asks its bus, which may take a while; never starts a bus.
bool has_portal_chooser();

// Shows the dialog, which begins in `folder` unless that is empty, until a file is chosen or it is closed: then the path is
// empty. Closes it once `ends()` is true. None where the portal does not answer.
std::optional<std::string> choose_by_portal(const std::string& folder, const std::function<bool()>& ends);

}  // namespace gapscope
