static_assert(false, "a message that nobody pinned");
