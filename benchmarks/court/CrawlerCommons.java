// crawler-commons, in Java: `java -cp JARS CrawlerCommons.java` answers for it.
import crawlercommons.robots.SimpleRobotRulesParser;
import java.nio.file.*;
import java.util.*;

class CrawlerCommons {
    public static void main(String[] args) throws Exception {
        var parser = new SimpleRobotRulesParser();
        var questions = new Scanner(System.in);
        while (questions.hasNextLine()) {
            var question = questions.nextLine().split("\t");
            var body = Files.readAllBytes(Path.of(question[0]));
            var agent = Set.of(question[1].toLowerCase(Locale.ROOT));
            var rules = parser.parseContent(question[2], body, "text/plain", agent);
            System.out.println(rules.isAllowed(question[2]) ? "allowed" : "disallowed");
        }
    }
}
