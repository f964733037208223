// The views, in the order of their tabs.

import { attention } from "./attention.js";
import { heads } from "./heads.js";
import { runs } from "./runs.js";
import { steps } from "./steps.js";
import { whatif } from "./whatif.js";
import { write } from "./write.js";
import type { View } from "./view.js";

export const VIEWS: readonly View[] = [write, attention, heads, steps, whatif, runs];
