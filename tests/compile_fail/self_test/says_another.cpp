// expect: static assertion
static_assert(false, "one message");  // says: another message
