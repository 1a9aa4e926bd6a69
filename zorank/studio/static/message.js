import { drawIcons } from "./dom.js";

drawIcons();
