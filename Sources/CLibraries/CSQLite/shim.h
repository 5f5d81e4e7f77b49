// SQLite. The destructor that means "copy it" is a cast, which Swift cannot import.
#pragma once

#include <sqlite3.h>

static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}
