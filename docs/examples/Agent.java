import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Creates a deposit with Sluice and takes its callback. Java 17 or newer, no packages: java Agent.java */
public class Agent {
  private static final int TOLERANCE_S = 300;
  private static final int MAX_BODY_BYTES = 65_536;
  private static final Pattern HEADER =
      Pattern.compile("t=([1-9][0-9]{0,11})((?:,v1=[0-9a-f]{64}){1,4})");

  static String sign(String secret, String prefix, byte[] body) throws GeneralSecurityException {
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(utf8(secret), "HmacSHA256"));
    mac.update(utf8(prefix));
    return HexFormat.of().formatHex(mac.doFinal(body));
  }

  /** The body is what came over the wire, not what a parser made of it. */
  static boolean isGenuine(List<String> secrets, String header, byte[] body, long nowS)
      throws GeneralSecurityException {
    var match = HEADER.matcher(header);
    if (!match.matches()) return false;
    var t = match.group(1);
    var genuine = false;
    for (var secret : secrets) {
      if (secret.isEmpty()) continue;
      var expected = utf8(sign(secret, t + ".", body));
      for (var given : match.group(2).substring(4).split(",v1=")) {
        genuine |= MessageDigest.isEqual(expected, utf8(given));
      }
    }
    return genuine && Math.abs(nowS - Long.parseLong(t)) <= TOLERANCE_S;
  }

  static String createDeposit(String baseUrl, String appId, String secret) throws Exception {
    var url = URI.create(baseUrl + "/payment/deposit");
    var body =
        """
        {"refId":"java-%s","userId":"user-42","amount":250,"accountName":"Somchai Jaidee",\
        "accountNo":"1234567890","bankCode":"SCB","timestamp":"%s"}"""
            .formatted(UUID.randomUUID(), Instant.now());
    var t = Instant.now().getEpochSecond();
    var v1 = sign(secret, t + ".POST " + url.getRawPath() + ".", utf8(body));
    var request =
        HttpRequest.newBuilder(url)
            .timeout(Duration.ofSeconds(10))
            .header("content-type", "application/json")
            .header("x-appid", appId)
            .header("x-signature", "t=" + t + ",v1=" + v1)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    var response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() >= 300) throw new IOException(response.body());
    return response.body();
  }

  static void takeCallback(List<String> secrets, HttpExchange exchange) throws IOException {
    try (exchange) {
      var body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES);
      var header = exchange.getRequestHeaders().getFirst("x-signature");
      if (header == null || !isGenuine(secrets, header, body, Instant.now().getEpochSecond())) {
        System.out.println("refused");
        answer(exchange, 401, "{\"code\":1,\"message\":\"not genuine\"}");
        return;
      }
      // It can come more than once: what counts is transactionId, status and successAt together. Read
      // them with the JSON library of your choice.
      System.out.println("verified " + new String(body, StandardCharsets.UTF_8));
      answer(exchange, 200, "{\"code\":0}");
    } catch (GeneralSecurityException fault) {
      throw new IOException(fault);
    }
  }

  static void answer(HttpExchange exchange, int status, String text) throws IOException {
    exchange.sendResponseHeaders(status, text.length());
    exchange.getResponseBody().write(utf8(text));
  }

  /** From vectors.txt, because the standard library does not read JSON. */
  static void checkVectors(Path path) throws Exception {
    var lines = Files.readAllLines(path);
    for (var line : lines.subList(1, lines.size())) {
      var columns = line.split("\\|", -1);
      var secrets =
          Arrays.stream(columns[1].split(",", -1)).map(each -> new String(decode(each))).toList();
      var at = Long.parseLong(columns[2]);
      var prefix = at + "." + (columns[3].isEmpty() ? "" : columns[3] + " " + columns[4] + ".");
      var header = columns[5];
      var body = decode(columns[6]);
      var isRefused = columns[0].equals("refused");
      var made = new StringBuilder("t=" + at);
      for (var secret : isRefused ? List.<String>of() : secrets) {
        made.append(",v1=").append(sign(secret, prefix, body));
      }
      var holds =
          switch (columns[0]) {
            case "request" -> made.toString().equals(header);
            case "callback" -> made.toString().equals(header) && isGenuine(secrets, header, body, at);
            default -> !isGenuine(secrets, header, body, at);
          };
      if (!holds) throw new AssertionError("vector failed: " + line);
    }
    System.out.println("vectors " + (lines.size() - 1));
  }

  static byte[] decode(String base64) {
    return Base64.getDecoder().decode(base64);
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static void main(String[] args) throws Exception {
    if (args.length == 2 && args[0].equals("--vectors")) {
      checkVectors(Path.of(args[1]));
      return;
    }
    var env = System.getenv();
    var secrets = List.of(env.get("SLUICE_SECRETS").split(",")); // newest first
    var port = Integer.parseInt(env.get("PORT"));
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.createContext("/", exchange -> takeCallback(secrets, exchange));
    server.start();
    var order = createDeposit(env.get("SLUICE_URL"), env.get("SLUICE_APP_ID"), secrets.get(0));
    System.out.println("created " + order);
  }
}
