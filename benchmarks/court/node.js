// The parsers in JavaScript: `NODE_PATH=FOLDER/node_modules node node.js NAME` answers for one of them.
const { readFileSync } = require("node:fs");
const { Readable } = require("node:stream");
const lines = require("node:readline").createInterface({ input: process.stdin });

const PARSERS = {
  "robots-parser": (text, agent, url) =>
    require("robots-parser")(new URL("/robots.txt", url).href, text).isAllowed(url, agent),
  "robots-txt-guard": async (text, agent, url) => {
    const { pathname, search } = new URL(url);
    const read = await require("robots-txt-parse")(Readable.from([text]));
    return require("robots-txt-guard")(read).isAllowed(agent, pathname + search);
  },
  "robots-txt-parser": (text, agent, url) => {
    const robots = require("robots-txt-parser")({ userAgent: agent });
    robots.parseRobots(url, text);
    return robots.canCrawlSync(url);
  },
  robots: (text, agent, url) => {
    const parser = new (require("robots").RobotsParser)();
    parser.parse(text.split(/\r\n|\r|\n/));
    return parser.canFetchSync(agent, url);
  },
};

(async () => {
  for await (const line of lines) {
    const [path, agent, url] = line.split("\t");
    const allowed = await PARSERS[process.argv[2]](readFileSync(path, "utf8"), agent, url);
    console.log(allowed ? "allowed" : "disallowed");
  }
})();
