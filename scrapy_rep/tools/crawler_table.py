"""The table of known crawlers, which `scrapy_rep.tools.crawlers` makes up: data alone, a line a crawler.

What only a few crawlers do is in `FALLBACKS` and `CRAWL_DELAYS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scrapy_rep.protocol.display import StringEnum


class Follows(StringEnum):
    """What of robots.txt a crawler follows; each is a string."""

    RULES = "its own group, or else that for *"
    OWN_GROUP = "its own group only"
    PARTLY = "not always"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class Category(StringEnum):
    """What a crawler's owner does with what it fetches; each is a string."""

    TRAINING = "training"
    SEARCH = "search"
    USER_REQUEST = "user request"
    ARCHIVE = "archive"
    SEO = "SEO"
    ADVERTISING = "advertising"
    PREVIEW = "preview"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts come from: the *title* of a document, its *owner*, and its *date*, or when it was read."""

    title: str
    owner: str
    date: str


_R, _OWN, _PARTLY, _NOTHING, _U = (
    Follows.RULES, Follows.OWN_GROUP, Follows.PARTLY, Follows.NOTHING, Follows.UNKNOWN,
)  # fmt: skip

_GOOGLES: Final = Source("Google's common crawlers", "Google", "2026-07")
_APPLES: Final = Source("About Applebot", "Apple", "2026-09")
_AMAZONS: Final = Source("About Amazonbot", "Amazon", "2026-09")
_ANTHROPICS: Final = Source("Does Anthropic crawl data from the web", "Anthropic", "2026-04")
_AHREFS: Final = Source("About AhrefsBot", "Ahrefs", "2025")

OF_OWNERS: Final[tuple[tuple[Source, str, tuple[tuple[str, str, Follows], ...]], ...]] = (
    (_GOOGLES, "Google", (
        ("Googlebot", "search", _R),
        ("Googlebot-Image", "search for images", _R),
        ("Googlebot-Video", "search for videos", _R),
        ("Googlebot-News", "news", _R),
        ("Storebot-Google", "shopping", _R),
        ("Google-InspectionTool", "tests of Search Console", _R),
        ("GoogleOther", "research and other products", _R),
        ("GoogleOther-Image", "research and other products", _R),
        ("GoogleOther-Video", "research and other products", _R),
        ("Google-CloudVertexBot", "answers on the sites of customers", _R),
        ("Google-Extended", "use of pages for AI; sends no requests of its own", _R),
    )),
    (Source("Google's special-case crawlers", "Google", "2026-02"), "Google", (
        ("APIs-Google", "push notifications", _OWN),
        ("AdsBot-Google", "quality of pages that ads link to", _OWN),
        ("AdsBot-Google-Mobile", "quality of pages that ads link to", _OWN),
        ("Mediapartners-Google", "ads on the site's own pages (AdSense)", _OWN),
        ("Google-Safety", "abuse and malware", _NOTHING),
    )),
    (Source("Google's user-triggered fetchers", "Google", "2026-10"), "Google", (
        ("FeedFetcher-Google", "feeds that users asked for", _NOTHING),
        ("GoogleProducer", "feeds for Google News", _NOTHING),
        ("Google-Read-Aloud", "reading pages aloud to users", _NOTHING),
        ("Google-Site-Verification", "proof of who owns a site", _NOTHING),
        ("Google-NotebookLM", "pages that users ask for", _NOTHING),
        ("Google-GeminiNotebook", "pages that users ask for", _NOTHING),
        ("Google-Agent", "tasks of an AI agent", _NOTHING),
    )),
    (Source("Which crawlers does Bing use", "Microsoft", "2025"), "Microsoft", (
        ("bingbot", "search", _R),
        ("adidxbot", "quality of pages that ads link to", _U),
        ("BingPreview", "snapshots of pages", _U),
        ("MicrosoftPreview", "snapshots of pages", _U),
        ("msnbot-media", "search for images and videos", _U),
    )),
    (Source("Yandex robots in server logs", "Yandex", "2025"), "Yandex", (
        ("Yandex", "all crawlers of Yandex", _R),
        ("YandexBot", "search", _R),
        ("YandexImages", "search for images", _R),
        ("YandexVideo", "search for videos", _R),
        ("YandexMedia", "search for media", _R),
        ("YandexBlogs", "search for blogs", _R),
        ("YandexNews", "news", _R),
        ("YandexMobileBot", "pages for mobile devices", _R),
        ("YandexDirect", "ads on the site's own pages", _OWN),
        ("YandexDirectDyn", "dynamic ads", _OWN),
        ("YaDirectFetcher", "pages that ads link to", _OWN),
        ("YandexCalendar", "calendars that users asked for", _OWN),
    )),
    (Source("Baiduspider help", "Baidu", "2020"), "Baidu", (
        ("Baiduspider", "search", _R),
        ("Baiduspider-image", "search for images", _R),
        ("Baiduspider-video", "search for videos", _R),
        ("Baiduspider-news", "news", _R),
        ("Baiduspider-favo", "bookmarks", _R),
        ("Baiduspider-cpro", "ads", _R),
        ("Baiduspider-ads", "ads", _R),
        ("Baiduspider-mobile", "pages for mobile devices", _U),
    )),
    (_APPLES, "Apple", (
        ("Applebot", "search in Siri and Spotlight", _R),
        ("Applebot-Extended", "use of pages for AI; sends no requests of its own", _R),
        ("iTMS", "podcasts that their makers registered", _NOTHING),
    )),
    (Source("DuckDuckBot and DuckAssistBot", "DuckDuckGo", "2025"), "DuckDuckGo", (
        ("DuckDuckBot", "search", _R),
        ("DuckAssistBot", "answers with sources", _R),
    )),
    (Source("Overview of OpenAI crawlers", "OpenAI", "2026-04"), "OpenAI", (
        ("GPTBot", "training", _R),
        ("OAI-SearchBot", "search for answers", _R),
        ("ChatGPT-User", "pages that users ask for", _PARTLY),
        ("OAI-AdsBot", "quality of pages that ads link to", _U),
    )),
    (_ANTHROPICS, "Anthropic", (
        ("ClaudeBot", "training", _R),
        ("Claude-User", "pages that users ask for", _R),
        ("Claude-SearchBot", "search for answers", _R),
    )),
    (Source("Perplexity crawlers", "Perplexity", "2025"), "Perplexity", (
        ("PerplexityBot", "search for answers", _R),
        ("Perplexity-User", "pages that users ask for", _PARTLY),
    )),
    (Source("Meta web crawlers", "Meta", "2026-04"), "Meta", (
        ("facebookexternalhit", "previews of shared links", _PARTLY),
        ("Facebot", "ads and previews", _U),
        ("facebookcatalog", "product catalogues", _U),
        ("meta-externalagent", "training and search", _R),
        ("meta-externalfetcher", "pages that users ask for", _PARTLY),
        ("meta-webindexer", "search for answers", _R),
        ("meta-externalads", "ads", _R),
        ("FacebookBot", "speech recognition", _R),
    )),
    (_AMAZONS, "Amazon", (
        ("Amazonbot", "answers and training", _R),
        ("Amzn-SearchBot", "search for answers", _R),
        ("Amzn-User", "pages that users ask for", _PARTLY),
    )),
    (Source("Mistral crawlers", "Mistral", "2026"), "Mistral", (
        ("MistralAI-User", "pages that users ask for", _R),
        ("MistralAI-Index", "search for answers", _R),
        ("MistralAI-Training", "training", _R),
    )),
    (Source("SemrushBot", "Semrush", "2025"), "Semrush", (
        ("SemrushBot", "backlinks", _R),
        ("SemrushBot-SA", "audits", _R),
        ("SiteAuditBot", "audits", _R),
        ("SemrushBot-BA", "backlink audits", _R),
        ("SemrushBot-SI", "content checks", _R),
        ("SemrushBot-SWA", "writing assistant", _R),
        ("SemrushBot-CT", "content analysis", _R),
        ("SemrushBot-BM", "brand monitoring", _R),
        ("SplitSignalBot", "tests of pages", _R),
    )),
    (_AHREFS, "Ahrefs", (
        ("AhrefsBot", "backlinks and search", _R),
        ("AhrefsSiteAudit", "audits", _R),
    )),
    (Source("Moz's crawlers", "Moz", "2024"), "Moz", (
        ("dotbot", "backlinks", _R),
        ("rogerbot", "audits", _R),
    )),
    (Source("Webz.io bots", "Webz.io", "2025"), "Webz.io", (
        ("omgili", "data for sale", _R),
        ("omgilibot", "data for sale", _R),
        ("Webzio-Extended", "data for sale to AI", _R),
    )),
    (Source("Manual of each, which knows no robots.txt", "their authors", "2024"), "", (
        ("curl", "library and command", _NOTHING),
        ("Python-urllib", "library", _NOTHING),
        ("python-requests", "library", _NOTHING),
        ("Go-http-client", "library", _NOTHING),
        ("Java", "library", _NOTHING),
        ("lwp-trivial", "library", _NOTHING),
        ("libwww-perl", "library", _NOTHING),
        ("libwww", "library", _U),
        ("WWW-Mechanize", "library", _NOTHING),
        ("Scrapy", "framework for crawlers", _U),
    )),
    (Source("GNU Wget manual", "GNU", "2024"), "GNU", (("Wget", "downloads", _R),)),
    (Source("robots.txt of Wikipedia", "Wikimedia Foundation", "2024"), "", (
        ("UbiCrawler", "research", _R),
        ("DOC", "copies of sites", _U),
        ("Zao", "research", _R),
        ("sitecheck.internetseer.com", "checks whether sites are up", _U),
        ("Zealbot", "unknown", _U),
        ("MSIECrawler", "copies of sites", _U),
        ("SiteSnagger", "copies of sites", _U),
        ("WebStripper", "copies of sites", _U),
        ("WebCopier", "copies of sites", _U),
        ("Fetch", "copies of sites", _U),
        ("Offline Explorer", "copies of sites", _U),
        ("Teleport", "copies of sites", _U),
        ("TeleportPro", "copies of sites", _U),
        ("WebZIP", "copies of sites", _U),
        ("linko", "unknown", _U),
        ("HTTrack", "copies of sites", _U),
        ("Microsoft.URL.Control", "library", _U),
        ("Xenu", "link checks", _U),
        ("larbin", "framework for crawlers", _U),
        ("Download Ninja", "copies of sites", _U),
        ("k2spider", "unknown", _U),
        ("NPBot", "searches for copied works", _U),
        ("WebReaper", "copies of sites", _U),
        ("grub-client", "search", _U),
    )),
    (Source("RFC 9309, examples", "IETF", "2022-09"), "", (
        ("ExampleBot", "an example", _U),
        ("FooBot", "an example", _U),
        ("BarBot", "an example", _U),
        ("BazBot", "an example", _U),
        ("QuxBot", "an example", _U),
    )),
)  # fmt: skip
"""Crawlers of which one document speaks: the document, their owner, and (token, purpose, what they follow)."""

ALONE: Final = (
    # token, owner, purpose, follows, document, date
    ("Slurp", "Yahoo", "search", _R, "Slurp", "2020"),
    ("Yahoo-MMCrawler", "Yahoo", "search for images", _U, "Slurp", "2010"),
    ("Yeti", "Naver", "search", _R, "Naver Search Advisor", "2024"),
    ("NaverBot", "Naver", "search", _U, "Naver Search Advisor", "2010"),
    ("Daumoa", "Kakao", "search", _R, "Daumoa", "2020"),
    ("SeznamBot", "Seznam.cz", "search", _R, "SeznamBot help", "2024"),
    ("Sogou", "Sogou", "all crawlers of Sogou", _U, "Sogou help for webmasters", "2020"),
    ("Sogou web spider", "Sogou", "search", _R, "Sogou help for webmasters", "2020"),
    ("360Spider", "Qihoo 360", "search", _U, "360 Search help", "2020"),
    ("HaosouSpider", "Qihoo 360", "search", _U, "360 Search help", "2015"),
    ("YisouSpider", "Shenma", "search", _U, "Shenma help", "2018"),
    ("EasouSpider", "Easou", "search", _U, "Easou help", "2015"),
    ("YoudaoBot", "NetEase", "search", _U, "Youdao help", "2012"),
    ("coccocbot-web", "Coc Coc", "search", _R, "Coc Coc robots", "2023"),
    ("coccocbot-image", "Coc Coc", "search for images", _R, "Coc Coc robots", "2023"),
    ("coccoc", "Coc Coc", "search", _U, "Coc Coc robots", "2015"),
    ("PetalBot", "Huawei", "search", _R, "PetalBot", "2024"),
    ("MojeekBot", "Mojeek", "search", _R, "MojeekBot", "2024"),
    ("Qwantify", "Qwant", "search", _R, "Qwant help", "2022"),
    ("Qwantbot", "Qwant", "search", _R, "Qwant help", "2024"),
    ("Bravebot", "Brave", "search", _R, "Brave Search crawler", "2025"),
    ("Mail.RU_Bot", "VK", "search", _R, "Mail.RU_Bot help", "2020"),
    ("istellabot", "Istella", "search", _U, "istellabot", "2018"),
    ("Exabot", "Dassault Systèmes", "search", _U, "Exabot", "2018"),
    ("Wotbox", "Wotbox", "search", _U, "Wotbox", "2018"),
    ("psbot", "Picsearch", "search for images", _U, "psbot", "2015"),
    ("Twitterbot", "X", "previews of shared links", _R, "Getting started with cards", "2023"),
    ("LinkedInBot", "LinkedIn", "previews of shared links", _U, "LinkedInBot", "2023"),
    ("Pinterestbot", "Pinterest", "pins", _R, "Pinterest crawler", "2024"),
    ("Pinterest", "Pinterest", "pins", _U, "Pinterest crawler", "2018"),
    ("Slackbot", "Slack", "previews of shared links", _U, "Slack robots", "2023"),
    ("Slackbot-LinkExpanding", "Slack", "previews of shared links", _U, "Slack robots", "2023"),
    ("Discordbot", "Discord", "previews of shared links", _U, "Discordbot", "2023"),
    ("TelegramBot", "Telegram", "previews of shared links", _U, "TelegramBot", "2023"),
    ("WhatsApp", "Meta", "previews of shared links", _U, "Meta web crawlers", "2023"),
    ("redditbot", "Reddit", "previews of shared links", _U, "redditbot", "2023"),
    ("MJ12bot", "Majestic", "backlinks", _R, "MJ12bot", "2024"),
    ("BLEXBot", "WebMeUp", "backlinks", _R, "BLEXBot", "2023"),
    ("SEOkicks", "SEOkicks", "backlinks", _R, "SEOkicks robot", "2023"),
    ("SEOkicks-Robot", "SEOkicks", "backlinks", _R, "SEOkicks robot", "2018"),
    ("SISTRIX", "SISTRIX", "audits", _R, "SISTRIX crawler", "2023"),
    ("serpstatbot", "Serpstat", "backlinks", _R, "serpstatbot", "2023"),
    ("DataForSeoBot", "DataForSEO", "backlinks", _R, "DataForSeoBot", "2024"),
    ("Barkrowler", "Babbar", "backlinks", _R, "Barkrowler", "2023"),
    ("linkdexbot", "Linkdex", "backlinks", _U, "linkdexbot", "2018"),
    ("spbot", "OpenLinkProfiler", "backlinks", _U, "spbot", "2018"),
    ("MegaIndex.ru", "MegaIndex", "backlinks", _U, "MegaIndex crawler", "2018"),
    ("LinkpadBot", "Linkpad", "backlinks", _U, "LinkpadBot", "2018"),
    ("SearchmetricsBot", "Searchmetrics", "audits", _U, "SearchmetricsBot", "2018"),
    ("XoviBot", "Xovi", "backlinks", _U, "XoviBot", "2018"),
    ("Screaming Frog SEO Spider", "Screaming Frog", "audits", _U, "SEO Spider user guide", "2024"),
    ("Siteimprove", "Siteimprove", "audits", _U, "Siteimprove help", "2023"),
    ("CCBot", "Common Crawl", "an open copy of the web", _R, "CCBot", "2026-10"),
    ("ia_archiver", "Alexa Internet", "rankings until 2022; archives", _U, "Alexa: end of service", "2022"),
    ("archive.org_bot", "Internet Archive", "an archive", _U, "Internet Archive help", "2017"),
    ("Arquivo-web-crawler", "Arquivo.pt", "an archive", _U, "Arquivo.pt: FAQ about crawling", "2024"),
    ("heritrix", "Internet Archive", "framework for crawlers", _U, "Heritrix", "2023"),
    ("Nutch", "Apache", "framework for crawlers", _R, "Apache Nutch", "2023"),
    ("BUbiNG", "Università di Milano", "research", _R, "BUbiNG", "2018"),
    ("Diffbot", "Diffbot", "data for sale", _U, "Diffbot help", "2024"),
    ("AI2Bot", "Ai2", "training", _R, "Ai2 crawler", "2025"),
    ("Ai2Bot-Dolma", "Ai2", "training", _R, "Ai2 crawler", "2025"),
    ("ImagesiftBot", "Hive", "training", _R, "ImagesiftBot", "2024"),
    ("img2dataset", "", "training", _U, "img2dataset", "2024"),
    ("ICC-Crawler", "NICT", "training", _R, "ICC-Crawler", "2024"),
    ("VelenPublicWebCrawler", "Velen", "data for sale", _R, "Velen crawler", "2024"),
    ("peer39_crawler", "Peer39", "ads", _U, "Peer39 crawler", "2023"),
    ("proximic", "Comscore", "ads", _U, "Comscore crawler", "2023"),
    ("ADmantX", "IAS", "ads", _U, "IAS crawler", "2023"),
    ("magpie-crawler", "Brandwatch", "monitoring", _R, "magpie-crawler", "2022"),
    ("trendictionbot", "Talkwalker", "monitoring", _R, "trendictionbot", "2022"),
    ("TurnitinBot", "Turnitin", "searches for plagiarism", _R, "TurnitinBot", "2022"),
    ("google-hoteladsverifier", "Google", "prices in hotel ads", _U, "Hotel Center help", "2022"),
    ("008", "80legs", "crawls for customers", _U, "80legs", "2015"),
    ("voltron", "80legs", "crawls for customers", _U, "80legs", "2018"),
    ("SurveyBot", "DomainTools", "facts about domains", _U, "SurveyBot", "2015"),
    ("aiHitBot", "aiHit", "facts about companies", _R, "aiHit", "2025"),
    ("Linguee", "DeepL", "translations", _U, "Linguee bot", "2018"),
    ("YodaoBot", "NetEase", "search", _U, "Youdao help", "2010"),
    ("Factbot", "Factbites", "search", _U, "Factbites", "2010"),
    ("The Knowledge AI", "", "unknown", _U, "robots.txt of thousands of sites", "2017"),
    ("Roverbot", "Rover", "unknown", _U, "User-agent lists of the 1990s", "2000"),
    ("W3C-checklink", "W3C", "link checks", _R, "W3C link checker", "2023"),
    ("Googlebot-Mobile", "Google", "pages for mobile telephones", _U, "Google crawlers", "2016"),
)  # fmt: skip
"""Crawlers with a document of their own."""

LIST: Final = Source("ai.robots.txt", "its contributors", "2026-08")

LISTED: Final = (
    # token, owner, purpose
    ("Bytespider", "ByteDance", "training"),
    ("TikTokSpider", "ByteDance", "training"),
    ("DeepSeekBot", "DeepSeek", "training"),
    ("ChatGLM-Spider", "Zhipu AI", "training"),
    ("PanguBot", "Huawei", "training"),
    ("cohere-training-data-crawler", "Cohere", "training"),
    ("SBIntuitionsBot", "SB Intuitions", "training"),
    ("Cotoyogi", "ROIS", "training"),
    ("Kangaroo Bot", "Kangaroo LLM", "training"),
    ("Reflectionbot", "Reflection", "training"),
    ("WRTNBot", "Wrtn", "training"),
    ("LAIONDownloader", "LAION", "training"),
    ("laion-huggingface-processor", "LAION", "training"),
    ("imageSpider", "", "training"),
    ("FriendlyCrawler", "", "training"),
    ("MyCentralAIScraperBot", "", "training"),
    ("Factset_spyderbot", "FactSet", "training"),
    ("Sidetrade indexer bot", "Sidetrade", "training"),
    ("Poseidon Research Crawler", "Poseidon Research", "training"),
    ("CloudVertexBot", "Google", "answers on the sites of customers"),
    ("Timpibot", "Timpi", "search and training"),
    ("Brightbot", "Bright Data", "data for AI"),
    ("ApifyBot", "Apify", "data for AI"),
    ("ApifyWebsiteContentCrawler", "Apify", "data for AI"),
    ("FirecrawlAgent", "Firecrawl", "data for AI"),
    ("Crawl4AI", "", "data for AI"),
    ("Crawlspace", "Crawlspace", "data for AI"),
    ("CragCrawler", "CragSoftware", "data for AI"),
    ("AIWebIndex", "Lyrenth", "data for AI"),
    ("Mozilla-Tabstack", "Mozilla", "data for AI"),
    ("YouBot", "You.com", "search for answers"),
    ("Andibot", "Andi", "search for answers"),
    ("Anomura", "Direqt", "search for answers"),
    ("AddSearchBot", "AddSearch", "search for answers"),
    ("Aranet-SearchBot", "", "search for answers"),
    ("AzureAI-SearchBot", "Microsoft", "search for answers"),
    ("Channel3Bot", "", "search for answers"),
    ("ExaSearchBot", "Exa", "search for answers"),
    ("HenkBot", "Valyu", "search for answers"),
    ("iAskBot", "iAsk", "search for answers"),
    ("iaskspider", "iAsk", "search for answers"),
    ("LinkupBot", "Linkup", "search for answers"),
    ("Querit-SearchBot", "Querit", "search for answers"),
    ("QueritBot", "Querit", "search for answers"),
    ("ShapBot", "Parallel", "search for answers"),
    ("TavilyBot", "Tavily", "search for answers"),
    ("TerraCotta", "Ceramic AI", "search for answers"),
    ("YandexAdditional", "Yandex", "search for answers"),
    ("YandexAdditionalBot", "Yandex", "search for answers"),
    ("ZanistaBot", "", "search for answers"),
    ("amazon-kendra", "Amazon", "answers on the sites of customers"),
    ("amazon-QBusiness", "Amazon", "answers on the sites of customers"),
    ("bedrockbot", "Amazon", "answers on the sites of customers"),
    ("atlassian-bot", "Atlassian", "answers on the sites of customers"),
    ("Cloudflare-AutoRAG", "Cloudflare", "answers on the sites of customers"),
    ("KlaviyoAIBot", "Klaviyo", "answers on the sites of customers"),
    ("QualifiedBot", "Qualified", "answers on the sites of customers"),
    ("bigsur.ai", "Big Sur AI", "answers on the sites of customers"),
    ("wpbot", "QuantumCloud", "answers on the sites of customers"),
    ("cohere-ai", "Cohere", "pages that users ask for"),
    ("AI2Bot-DeepResearchEval", "Ai2", "pages that users ask for"),
    ("Gemini-Deep-Research", "Google", "pages that users ask for"),
    ("GoogleAgent-URLContext", "Google", "pages that users ask for"),
    ("Google-Firebase", "Google", "pages that users ask for"),
    ("kagi-fetcher", "Kagi", "pages that users ask for"),
    ("Kimi-User", "Moonshot AI", "pages that users ask for"),
    ("LinerBot", "Liner", "pages that users ask for"),
    ("PhindBot", "Phind", "pages that users ask for"),
    ("Shap-User", "Parallel", "pages that users ask for"),
    ("TongyiBot", "Alibaba", "pages that users ask for"),
    ("YiyanBot", "Baidu", "pages that users ask for"),
    ("Poggio-Citations", "Poggio", "pages that users ask for"),
    ("ChatGPT Agent", "OpenAI", "tasks of an AI agent"),
    ("GoogleAgent-Mariner", "Google", "tasks of an AI agent"),
    ("AmazonBuyForMe", "Amazon", "tasks of an AI agent"),
    ("NovaAct", "Amazon", "tasks of an AI agent"),
    ("Manus-User", "Butterfly Effect", "tasks of an AI agent"),
    ("TwinAgent", "Twin", "tasks of an AI agent"),
    ("Claude-Code", "Anthropic", "tasks of an AI agent"),
    ("Devin", "Cognition", "tasks of an AI agent"),
    ("Google-Gemini-CLI", "Google", "tasks of an AI agent"),
    ("opencode", "", "tasks of an AI agent"),
    ("SemrushBot-OCOB", "Semrush", "writing assistant"),
    ("Datenbank Crawler", "Datenbank", "facts about companies"),
    ("netEstate Imprint Crawler", "netEstate", "facts about companies"),
    ("Panscient", "Panscient", "facts about companies"),
    ("panscient.com", "Panscient", "facts about companies"),
    ("YaK", "Meltwater", "monitoring"),
    ("Awario", "Awario", "monitoring"),
    ("EchoboxBot", "Echobox", "monitoring"),
    ("Lightpanda", "Lightpanda", "library"),
    ("WARDBot", "WEBSPARK", "unknown"),
)  # fmt: skip
"""Crawlers of which only `LIST` speaks; it does not say for certain what they follow.

A name that is a common word, such as Spider, Code, Operator or Cursor, is left out: whoever writes it in a
robots.txt may mean anything.
"""

RETIRED: Final = (
    # token, owner, purpose, last year, successor, document that says so, its date
    ("msnbot", "Microsoft", "search", "2010", "bingbot", "Bing Webmaster blog: Bing crawler: bingbot", "2010"),
    ("anthropic-ai", "Anthropic", "training", "2024", "ClaudeBot", "404 Media: wrong AI scrapers", "2024-07"),
    ("Claude-Web", "Anthropic", "training", "2024", "ClaudeBot", "404 Media: wrong AI scrapers", "2024-07"),
    ("DuplexWeb-Google", "Google", "tasks for users", "2022", "", "Retired Google crawlers", "2025-08"),
    ("googleweblight", "Google", "light pages", "2022", "", "Retired Google crawlers", "2025-08"),
    ("gsa-crawler", "Google", "search appliance", "2019", "", "End of the Google Search Appliance", "2018"),
    ("Teoma", "Ask.com", "search", "2010", "", "Ask.com ends its own search", "2010-11"),
    ("Gigabot", "Gigablast", "search", "2023", "", "Gigablast", "2023"),
    ("Blekkobot", "blekko", "search", "2015", "", "blekko joins IBM Watson", "2015-03"),
    ("ScoutJet", "blekko", "search", "2015", "", "blekko joins IBM Watson", "2015-03"),
    ("Cliqzbot", "Cliqz", "search", "2020", "", "Cliqz story is over", "2020-04"),
    ("twiceler", "Cuil", "search", "2010", "", "Cuil", "2010-09"),
    ("Scooter", "AltaVista", "search", "2013", "", "Yahoo closes AltaVista", "2013-07"),
    ("FAST-WebCrawler", "AlltheWeb", "search", "2011", "", "Yahoo closes AlltheWeb", "2011-04"),
    ("ZyBORG", "LookSmart", "search", "2007", "", "WiseNut", "2007"),
    ("Sosospider", "Tencent", "search", "2013", "Sogou web spider", "Tencent hands Soso to Sogou", "2013-09"),
    ("SputnikBot", "Rostelecom", "search", "2020", "", "Sputnik closes", "2020-09"),
    ("PaperLiBot", "Paper.li", "newspapers of links", "2023", "", "Paper.li closes", "2023-04"),
    ("grapeshot", "Oracle", "ads", "2024", "", "Oracle ends its advertising business", "2024-09"),
    ("GrapeshotCrawler", "Oracle", "ads", "2024", "", "Oracle ends its advertising business", "2024-09"),
)  # fmt: skip
"""Crawlers that are no longer in use."""


def _of(owner: str) -> tuple[str, ...]:
    """The tokens of the crawlers that *owner* documents."""
    return tuple(token for _, name, rows in OF_OWNERS if name == owner for token, _, _ in rows)


FALLBACKS: Final[tuple[tuple[Source, tuple[tuple[str, ...], ...]], ...]] = (
    (_GOOGLES, (
        ("Googlebot-Image", "Googlebot"),
        ("Googlebot-Video", "Googlebot"),
        ("Googlebot-News", "Googlebot"),
        ("Google-InspectionTool", "Googlebot"),
        ("Google-CloudVertexBot", "Googlebot"),
        ("GoogleOther-Image", "GoogleOther"),
        ("GoogleOther-Video", "GoogleOther"),
    )),
    (Source("Bingbot is coming to town", "Microsoft", "2010-09"), (("bingbot", "msnbot"),)),
    (_APPLES, (("Applebot", "Googlebot"),)),
    (Source("The User-agent directive", "Yandex", "2026"), (
        ("YandexBot", "Yandex"),
        ("YandexImages", "Yandex"),
        ("YandexVideo", "Yandex"),
        ("YandexMedia", "Yandex"),
        ("YandexBlogs", "Yandex"),
        ("YandexNews", "Yandex"),
        ("YandexMobileBot", "Yandex"),
    )),
    (Source("Using the Yandex Advertising Network robot", "Yandex", "2026"), (("YandexDirect", "Yandex"),)),
)  # fmt: skip
"""Crawlers that follow the group of another where none names them: the document, and each (token, the other's, …).

They try the others in order, and groups for ``*`` last, if at all.
"""

CRAWL_DELAYS: Final[tuple[tuple[Source, bool, tuple[str, ...]], ...]] = (
    (Source("How Google interprets the robots.txt specification", "Google", "2026-04"), False, _of("Google")),
    (Source("Crawl delay and the Bing crawler, MSNBot", "Microsoft", "2009-08"), True, ("bingbot", "msnbot")),
    (Source("The Crawl-delay directive", "Yandex", "2026"), False, _of("Yandex")),
    (_AMAZONS, False, _of("Amazon")),
    (_ANTHROPICS, True, _of("Anthropic")),
    (Source("CCBot", "Common Crawl", "2026-10"), True, ("CCBot",)),
    (Source("Yahoo Help on the web crawler Slurp", "Yahoo", "2011"), True, ("Slurp",)),
    (_AHREFS, True, _of("Ahrefs")),
    (Source("MJ12bot", "Majestic", "2024"), True, ("MJ12bot",)),
)
"""Crawlers of which a document says whether they read Crawl-delay: the document, whether they do, their tokens."""
