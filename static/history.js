/** The ladder's history: its chart is read by keyboard and pointer as every other one. */

import { startCharts } from "./charts.js";

startCharts();
