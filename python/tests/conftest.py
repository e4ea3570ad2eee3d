# SPDX-License-Identifier: Apache-2.0
import os

from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
settings.register_profile("long", max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
settings.load_profile(os.environ.get("TILEHASH_PROFILE", "quick"))
