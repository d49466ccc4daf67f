// Verifies requests by two packages of npm: a job on standard input, a line for each request on standard output.
const { verify } = require("web-bot-auth");
const { verifierFromJWK } = require("web-bot-auth/crypto");
const { component, verifySignature, webcrypto } = require("httpsig");
const { parseDictionary } = require("structured-headers");

// web-bot-auth 0.1.3 reads the Signature-Agent of older drafts, one string. The draft has a dictionary, and covers
// a member of it: the package gets that, and does the rest.
function ofOlderDrafts(request) {
  const headers = new Headers(request.headers);
  const [url] = parseDictionary(headers.get("signature-agent")).get("sig1");
  headers.set("signature-agent", `"${url}"`);
  return new Request(request.url, { headers });
}

async function accepted(check) {
  try {
    await check();
    return "accepted";
  } catch (error) {
    return String(error);
  }
}

async function main() {
  const job = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const key = await crypto.subtle.importKey("jwk", job.jwk, { name: "Ed25519" }, true, ["verify"]);
  const byBots = await verifierFromJWK(job.jwk);
  const policy = {
    algorithms: ["ed25519"],
    requiredComponents: ["@authority", component("signature-agent", { key: "sig1" })],
    requiredParameters: ["created", "expires", "keyid", "tag"],
  };
  for (const { url, headers } of job.requests) {
    const request = new Request(url, { headers });
    const answers = [
      await accepted(() => verify(ofOlderDrafts(request), byBots)),
      await accepted(() => verifySignature(request, { policy, resolveVerifier: () => webcrypto.verifier(key) })),
    ];
    console.log(JSON.stringify(answers));
  }
}

main();
