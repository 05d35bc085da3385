// Opens pages from disk in Chromium without a network and reports what is wrong. The pages are the
// lab's reports, the output of `jeton inspect --web`, and the page of the service's admin listener.
//
//   node page.mjs FILES... [--screenshots DIR]
//
// Exit 0: no problems. Exit 1: one line for each problem. Exit 2: invalid usage. CHROMIUM names a
// browser other than /usr/bin/chromium.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { chromium } from "playwright-core";

/** The required sections of a page, by the program named above its title. */
const SECTIONS = {
  "jeton-lab": [
    "answers", "recommendation", "language", "charts", "tradeoff", "summary", "sizes", "overhead", "gaps",
    "trust", "environment", "data", "glossary",
  ],
  "jeton-lab, servers": ["answers", "servers", "reports", "environment", "data", "glossary"],
  "jeton-lab, side by side": ["machines", "compared", "verdicts", "glossary"],
  // Its sections depend on the token.
  "jeton inspect": [],
  "jeton serve": ["state", "clients", "issuers"],
};
/** The programs whose pages have no script. */
const WITHOUT_SCRIPT = ["jeton inspect", "jeton serve"];
const WIDTHS = [1280, 768, 390, 320];
/** The widths at which axe looks at a page. */
const AUDITED = [1280, 390, 320];
/** The sheets of A4 that a page as it opens takes on paper. */
const SHEETS_MAX = 20;
/** The answers, with the control and charts over the whole width, lie within this many pixels from the top. */
const ANSWERS_PX = 1000;
/** The height of a lab report as it opens, at 1,280 pixels. */
const OPENED_PX = 6400;
/** Longer than anything takes on a busy machine. */
const TIMEOUT_MS = 120_000;

const { values, positionals } = readArguments();
let url = "";
const problems = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  timeout: TIMEOUT_MS,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
let wrong = false;
try {
  for (const file of positionals) {
    url = pathToFileURL(resolve(file)).href;
    problems.length = 0;
    await read();
    await plain();
    await printed();
    for (const colorScheme of ["light", "dark"]) await audit(colorScheme);
    if (values.screenshots) await photograph(join(values.screenshots, basename(file, ".html")));
    for (const problem of new Set(problems)) console.log(`not ok: ${file}: ${problem}`);
    if (problems.length === 0) console.log(`ok: ${file}`);
    wrong ||= problems.length > 0;
  }
} finally {
  await browser.close();
}
if (wrong) process.exit(1);

/** Loads the page with its own policy and checks what a reader gets. */
async function read() {
  const { context, page } = await open({});
  await top(page);
  await keyboard(page);
  await folded(page);
  if ((await page.locator("#choose").count()) > 0) await choosing(page);
  await page.evaluate(unfold);
  if ((await page.locator("thead button").count()) > 0) await sorting(page);
  if ((await page.locator(".filter input").count()) > 0) await filtering(page);
  const found = await page.evaluate(inspect, { made: SECTIONS, withoutScript: WITHOUT_SCRIPT });
  problems.push(...found.problems);
  console.log(`${found.charts} charts, ${found.tables} tables, ${found.rows} table rows`);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate(overflowing);
    for (const what of wide) problems.push(`at ${width} px: ${what}`);
  }
  await context.close();
}

/** Checks that the answers with their charts are at the top, and that the page opens short. */
async function top(page) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const { bottom, height } = await page.evaluate(() => ({
      bottom: Math.max(0, ...[...document.querySelectorAll("#answers .answer")].map((one) => one.getBoundingClientRect().bottom + scrollY)),
      height: document.documentElement.scrollHeight,
    }));
    if (bottom > ANSWERS_PX) problems.push(`at ${width} px: the answers end at ${bottom} px`);
    if (width === 1280 && bottom > 0 && height > OPENED_PX) problems.push(`the page opens ${height} px high`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** Checks the page without scripts: every figure, the folded parts, the download. */
async function plain() {
  const { context, page } = await open({ javaScriptEnabled: false });
  const rows = await page.locator("tbody tr").count();
  if (rows === 0) problems.push("no rows without scripts");
  if ((await page.locator("thead button, .filter, #choose:visible").count()) > 0) problems.push("controls are shown without scripts");
  const group = await page.$("details:not([open])");
  if (group) {
    await (await group.$("summary")).focus();
    await page.keyboard.press("Enter");
    if ((await group.getAttribute("open")) === null) problems.push("Enter does not open a folded group");
  }
  await page.evaluate(unfold);
  const link = page.locator("a[download]");
  if ((await link.count()) > 0) {
    const [download] = await Promise.all([page.waitForEvent("download"), link.first().click()]);
    if (download.suggestedFilename() !== "results.json.gz") problems.push("the download has the wrong name");
    const bytes = gunzipSync(readFileSync(await download.path()));
    if (!Array.isArray(JSON.parse(bytes).rows)) problems.push("the download is not a result");
  }
  await context.close();
}

/** Checks that a link into a folded group opens it. */
async function folded(page) {
  const id = await page.evaluate(() => {
    const headings = [...document.querySelectorAll("details:not([open]) h4[id]")];
    return headings.find(({ id }) => document.querySelector(`a[href="#${id}"]`))?.id;
  });
  if (!id) return;
  await page.locator(`a[href="#${id}"]`).first().evaluate((link) => link.click());
  let seen = false;
  for (const end = Date.now() + TIMEOUT_MS; !seen && Date.now() < end; ) {
    seen = await page.evaluate((id) => document.getElementById(id).getBoundingClientRect().height > 0, id);
    if (!seen) await page.waitForTimeout(50);
  }
  if (!seen) problems.push(`a link to ${id} does not open its group`);
}

/** Checks that the choice of a language and of a case changes the cards and opens the part of the language. */
async function choosing(page) {
  const cards = () => page.locator("#answers .answer .said").allTextContents();
  const before = await cards();
  const language = await page.locator("#my-language option").nth(1).getAttribute("value");
  await page.selectOption("#my-language", language);
  const own = await cards();
  if (own.join() === before.join() || own.length === 0) problems.push(`the cards of ${language} are not shown`);
  const open = await page.evaluate((name) => document.getElementById(`language-${name}`).closest("details").open, language);
  if (!open) problems.push(`the part of ${language} is folded`);
  await page.selectOption("#who-verifies", "shared");
  if ((await cards()).join() === own.join()) problems.push("who verifies changes no card");
  await page.selectOption("#my-language", "");
  await page.selectOption("#who-verifies", "public");
  if ((await cards()).join() !== before.join()) problems.push("the cards of all languages do not return");
}

/** Runs in the page: opens everything that is folded. */
function unfold() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

/** Checks that Tab reaches the skip link first, and that it leads to the report. */
async function keyboard(page) {
  await page.keyboard.press("Tab");
  const first = await page.evaluate(() => document.activeElement?.getAttribute("href"));
  if (first !== "#main") problems.push(`the first Tab stop is ${first}, not the skip link`);
}

/** Checks that Enter on a column head sorts the table, announces it, and reverses the order. */
async function sorting(page) {
  const button = page.locator("thead button:visible").first();
  const head = button.locator("xpath=ancestor::th");
  await button.focus();
  const orders = [];
  for (const wanted of ["ascending", "descending"]) {
    await page.keyboard.press("Enter");
    if ((await head.getAttribute("aria-sort")) !== wanted) problems.push(`Enter on a column head did not sort ${wanted}`);
    orders.push(await head.evaluate((th) => {
      const rows = [...th.closest("table").tBodies[0].rows].filter((row) => !row.classList.contains("missing"));
      return rows.map((row) => row.cells[0].textContent);
    }));
  }
  const [up, down] = orders;
  if (up.length > 1 && up.join() === down.join()) problems.push("reversing the order changed nothing");
  const said = await page.locator("[role=status]").textContent();
  if (!said.includes("descending")) problems.push(`wrong text of the live region after sorting: "${said}"`);
}

/**
 * Checks that typing into a filter hides rows and announces how many remain; Escape restores them.
 */
async function filtering(page) {
  const input = page.locator(".filter input:visible").first();
  await input.focus();
  await page.keyboard.type("zzzz-no-such-row");
  const shown = () => page.locator("[role=status]").textContent();
  if (!/^0 of \d+ rows/.test(await shown())) problems.push(`a filter without matches says "${await shown()}"`);
  const left = await input.evaluate((field) => {
    const table = field.closest("label").nextElementSibling.querySelector("table");
    return [...table.tBodies[0].rows].filter((row) => row.getBoundingClientRect().height > 0).length;
  });
  if (left > 0) problems.push(`a filter without matches leaves ${left} rows`);
  await page.keyboard.press("Escape");
  if (!(await shown()).startsWith("All rows")) problems.push("Escape does not clear the filter");
}

/** Checks that the page as it opens prints on few sheets. */
async function printed() {
  const { context, page } = await open({});
  const pdf = (await page.pdf({ format: "A4" })).toString("latin1");
  const sheets = pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;
  if (sheets === 0 || sheets > SHEETS_MAX) problems.push(`the page prints on ${sheets} sheets of A4`);
  await context.close();
}

/**
 * Runs axe-core on the page as it opens and with everything open, at each width. Only this check needs the policy
 * disabled, because axe is a script.
 */
async function audit(colorScheme) {
  const { context, page } = await open({ colorScheme, bypassCSP: true });
  const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  await page.addScriptTag({ content: readFileSync(source, "utf8") });
  for (const state of ["folded", "open"]) {
    if (state === "open") await page.evaluate(unfold);
    for (const width of AUDITED) {
      await page.setViewportSize({ width, height: 900 });
      const { violations, passes } = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ["violations"] }),
      );
      const where = `${colorScheme}, ${state}, ${width} px`;
      if (!passes.some((rule) => rule.id === "color-contrast")) problems.push(`${where}: axe checked no contrast`);
      for (const { id, impact, help, nodes } of violations) {
        problems.push(`${where}: ${id} (${impact}): ${help}: ${nodes.length} × ${nodes[0].html.slice(0, 160)}`);
      }
    }
  }
  await context.close();
}

async function photograph(folder) {
  mkdirSync(folder, { recursive: true });
  const shots = [
    ["light", { width: 1280 }, { colorScheme: "light" }],
    ["dark", { width: 1280 }, { colorScheme: "dark" }],
    ["narrow", { width: 390 }, { colorScheme: "light" }],
    ["narrow-dark", { width: 390 }, { colorScheme: "dark" }],
    ["print", { width: 720 }, { colorScheme: "dark", media: "print" }],
  ];
  for (const [name, { width }, media] of shots) {
    const { context, page } = await open({ viewport: { width, height: 900 } });
    await page.emulateMedia(media);
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    if (media.media === "print") await page.pdf({ path: join(folder, "print.pdf"), format: "A4" });
    await context.close();
  }
}

/** Opens a page in a context without a network. Every console message becomes a problem. */
async function open(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  await context.setOffline(true);
  await context.route("**/*", (route) => {
    const asked = route.request().url();
    if (asked === url) return route.continue();
    problems.push(`requested ${asked}`);
    return route.abort();
  });
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy violation: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  page.on("request", (request) => {
    // The download is a link that contains the data.
    if (request.url() !== url && !request.url().startsWith("data:application/gzip;")) problems.push(`requested ${request.url()}`);
  });
  await page.goto(url, { waitUntil: "load" });
  return { context, page };
}

/** Runs in the page: checks its structure, and that every chart has a table. */
function inspect({ made, withoutScript }) {
  const problems = [];
  const maker = document.querySelector(".eyebrow")?.textContent;
  const sections = made[maker] ?? [];
  if (!(maker in made)) problems.push(`unknown program "${maker}" above the title`);
  if (withoutScript.includes(maker) && document.scripts.length > 0) problems.push("a script on the page");
  if (maker === "jeton inspect") {
    // The first section begins with the caution that nothing was verified, or with the verdict.
    const first = document.querySelector("main > section:first-child > p:first-child");
    if (!first?.matches(".caution, .verdict") || !first.textContent.trim()) problems.push("neither caution nor verdict first");
    const said = [...document.querySelectorAll("main section")];
    if (!said.length || said.some((one) => one.textContent.trim().length < 20)) problems.push("an empty section");
    // The times of a token have a chart, and its parts are coloured.
    const times = document.querySelector("#times svg[role=img]");
    if (document.querySelector("#times time") && !times) problems.push("times without a chart");
    for (const part of document.querySelectorAll(".token span")) {
      const colour = (element) => getComputedStyle(element).color;
      if (colour(part) === colour(part.parentElement)) problems.push(`no colour for the token's ${part.className}`);
    }
  }
  if (!document.documentElement.lang) problems.push("no language");
  if (!document.title.trim()) problems.push("no title");
  if (!document.querySelector('meta[http-equiv="Content-Security-Policy"]')) problems.push("no policy");
  for (const id of sections) {
    const section = document.getElementById(id);
    if (!section || section.tagName !== "SECTION") problems.push(`no section ${id}`);
    else if (section.textContent.trim().length < 20) problems.push(`section ${id} is empty`);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) problems.push(`heading "${heading.textContent}" skips from h${level} to h${next}`);
    level = next;
  }
  if (document.querySelectorAll("h1").length !== 1) problems.push("not exactly one h1");
  const charts = [...document.querySelectorAll("svg[role=img]")];
  for (const chart of charts) {
    const name = chart.getAttribute("aria-label") ?? "";
    const short = name.slice(0, 80);
    if (!name.trim()) problems.push("a chart without a name");
    const table = document.getElementById(chart.getAttribute("aria-details") ?? "");
    if (table?.tagName !== "TABLE") problems.push(`no table for the chart "${short}"`);
    else {
      if (!table.querySelector("tbody tr")) problems.push(`no rows in the table of "${short}"`);
      if (!table.caption?.textContent.trim()) problems.push(`no caption for the table of "${short}"`);
      if (table.getBoundingClientRect().top < chart.getBoundingClientRect().bottom) {
        problems.push(`the table of "${short}" is not below it`);
      }
    }
    const marks = chart.querySelectorAll('use[href^="#m-"], .bar, .mark');
    const drawn = [...marks].filter((mark) => mark.getBoundingClientRect().width > 0);
    if (marks.length === 0 || drawn.length < marks.length) problems.push(`an empty chart: "${short}"`);
  }
  for (const svg of document.querySelectorAll("svg:not([role=img])")) {
    if (!svg.closest("[aria-hidden=true], svg[role=img]")) problems.push("an svg without a role");
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption) problems.push("a table without a caption");
    if ([...table.querySelectorAll("th")].some((head) => !head.scope)) problems.push("a column heading without scope");
  }
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    if (!document.getElementById(link.hash.slice(1))) problems.push(`a link without a target: ${link.hash}`);
  }
  const tables = document.querySelectorAll("table").length;
  return { problems, charts: charts.length, tables, rows: document.querySelectorAll("tbody tr").length };
}

/**
 * Runs in the page: finds content wider than the window, and chart text that is cut off or
 * overlaps.
 */
function overflowing() {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth} px wide in ${clientWidth}`);
  for (const chart of document.querySelectorAll("svg[role=img]")) {
    const frame = chart.getBoundingClientRect();
    // Text hidden on a narrow screen has no box.
    const texts = [...chart.querySelectorAll("text")]
      .map((text) => ({ words: text.textContent, box: text.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0);
    for (const { words, box } of texts) {
      if (box.left < frame.left - 2 || box.right > frame.right + 2) found.push(`chart text leaves its chart: "${words}"`);
    }
    // Labels overlap where their boxes overlap by more than the space around letters.
    const touch = (a, b) =>
      a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4;
    texts.forEach(({ words, box }, index) => {
      const other = texts.slice(index + 1).find((other) => touch(box, other.box));
      if (other) found.push(`chart labels overlap: "${words}" and "${other.words}" in "${chart.getAttribute("aria-label").slice(0, 60)}"`);
    });
  }
  return found;
}

function readArguments() {
  const usage = "usage: node page.mjs FILES... [--screenshots DIR]";
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options: { screenshots: { type: "string" } } });
  } catch (error) {
    fail(`${error.message}\n${usage}`);
  }
  if (given.positionals.length === 0) fail(usage);
  const absent = given.positionals.find((file) => !existsSync(file));
  if (absent) fail(`no such file: ${absent}`);
  return given;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
