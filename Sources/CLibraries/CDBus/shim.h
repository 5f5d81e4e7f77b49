// libdbus, which Avahi's client brings along: notifications of the desktop.
// https://specifications.freedesktop.org/notification-spec/latest/
#pragma once

#include <dbus/dbus.h>
#include <string.h>

/// The session's bus, or NULL. Losing it does not end the program.
static inline DBusConnection *cdbus_open(const char *address) {
  DBusConnection *bus = dbus_connection_open_private(address, NULL);
  if (!bus) return NULL;
  dbus_connection_set_exit_on_disconnect(bus, FALSE);
  if (dbus_bus_register(bus, NULL)) return bus;
  dbus_connection_close(bus);
  dbus_connection_unref(bus);
  return NULL;
}

static inline void cdbus_close(DBusConnection *bus) {
  dbus_connection_close(bus);
  dbus_connection_unref(bus);
}

/// Forgets what the bus sends unasked. 0 when it has gone.
static inline int cdbus_drain(DBusConnection *bus) {
  dbus_connection_read_write(bus, 0);
  DBusMessage *message;
  while ((message = dbus_connection_pop_message(bus))) dbus_message_unref(message);
  return dbus_connection_get_is_connected(bus);
}

static inline DBusMessage *cdbus_call(DBusConnection *bus, const char *method, void (*fill)(DBusMessageIter *, const void *), const void *what) {
  DBusMessage *call = dbus_message_new_method_call(
      "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", method);
  if (!call) return NULL;
  DBusMessageIter arguments;
  dbus_message_iter_init_append(call, &arguments);
  fill(&arguments, what);
  // A desktop that hangs is no reason to wait long.
  DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, 2000, NULL);
  dbus_message_unref(call);
  return reply;
}

struct cdbus_note {
  dbus_uint32_t replaces;
  const char *title, *body;
};

static inline void cdbus_fill_note(DBusMessageIter *arguments, const void *what) {
  const struct cdbus_note *note = (const struct cdbus_note *)what;
  const char *application = "Cradle", *icon = "cradle-parent", *urgency = "urgency";
  unsigned char critical = 2;
  // It stays until it is closed.
  dbus_int32_t timeout = 0;
  DBusMessageIter list, entry, value;
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &application);
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_UINT32, &note->replaces);
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &icon);
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &note->title);
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_STRING, &note->body);
  dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "s", &list);
  dbus_message_iter_close_container(arguments, &list);
  dbus_message_iter_open_container(arguments, DBUS_TYPE_ARRAY, "{sv}", &list);
  dbus_message_iter_open_container(&list, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
  dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &urgency);
  dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "y", &value);
  dbus_message_iter_append_basic(&value, DBUS_TYPE_BYTE, &critical);
  dbus_message_iter_close_container(&entry, &value);
  dbus_message_iter_close_container(&list, &entry);
  dbus_message_iter_close_container(arguments, &list);
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_INT32, &timeout);
}

static inline void cdbus_fill_number(DBusMessageIter *arguments, const void *what) {
  dbus_message_iter_append_basic(arguments, DBUS_TYPE_UINT32, what);
}

/// Shows a notification in place of `replaces` (0: a new one). Both texts are UTF-8. Its number, or 0.
static inline unsigned cdbus_notify(DBusConnection *bus, unsigned replaces, const char *title, const char *body) {
  struct cdbus_note note = {.replaces = replaces, .title = title, .body = body};
  DBusMessage *reply = cdbus_call(bus, "Notify", cdbus_fill_note, &note);
  if (!reply) return 0;
  dbus_uint32_t number = 0;
  if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_UINT32, &number, DBUS_TYPE_INVALID)) number = 0;
  dbus_message_unref(reply);
  return number;
}

static inline void cdbus_withdraw(DBusConnection *bus, unsigned number) {
  dbus_uint32_t which = number;
  DBusMessage *reply = cdbus_call(bus, "CloseNotification", cdbus_fill_number, &which);
  if (reply) dbus_message_unref(reply);
}
