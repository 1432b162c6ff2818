/** The page of a cycle: texts can be copied. */
import { startCopying } from "../../copying.js";

startCopying(document.querySelector(".cycle-content"));
