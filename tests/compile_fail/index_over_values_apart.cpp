// expect: tilehash: the table of ids must be one that is changed in place, with values beside keys
#include <tilehash/designs/dynamic_cuckoo.hpp>
#include <tilehash/designs/indexed.hpp>

template struct tilehash::indexed<unsigned, unsigned, tilehash::murmur,
                                  tilehash::dynamic_cuckoo<unsigned, unsigned>>;
