// Makes page.html: shell.html with the style and the script in it, and a policy that lets nothing else run or load.
// usage: node build.mjs [FILE]
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { buildSync, transformSync } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
const read = (name) => readFileSync(here + name, "utf8");
const hash = (text) => "'sha256-" + createHash("sha256").update(text).digest("base64") + "'";

const script = buildSync({
  absWorkingDir: here, entryPoints: ["src/main.ts"], bundle: true, minify: true, format: "iife", target: "es2022", charset: "ascii",
  write: false,
}).outputFiles[0].text.trim();
const style = transformSync(read("style.css"), { loader: "css", minify: true }).code.trim();
const policy = [
  "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "base-uri 'none'", "form-action 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join("; ");

if (/<\/(script|style)/i.test(script + style)) throw new Error("the script would end its own element");
let page = read("shell.html");
for (const [mark, text] of [["@POLICY@", policy], ["@STYLE@", style], ["@SCRIPT@", script]]) page = page.replace(mark, () => text);
writeFileSync(process.argv[2] ?? here + "page.html", page);
