// Creates a deposit with Sluice and takes its callback. .NET or Mono, no packages.
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

public static class Agent
{
    const int ToleranceS = 300;
    const int MaxBodyBytes = 65536;
    static readonly Regex Header = new Regex(@"\At=([1-9][0-9]{0,11})((?:,v1=[0-9a-f]{64}){1,4})\z");

    static string Sign(string secret, string prefix, byte[] body)
    {
        using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
        {
            var signed = Encoding.UTF8.GetBytes(prefix).Concat(body).ToArray();
            return BitConverter.ToString(hmac.ComputeHash(signed)).Replace("-", "").ToLowerInvariant();
        }
    }

    /// <summary>The body is what came over the wire, not what a parser made of it.</summary>
    static bool IsGenuine(string[] secrets, string header, byte[] body, long nowS)
    {
        var match = Header.Match(header ?? "");
        if (!match.Success) return false;
        var t = match.Groups[1].Value;
        var genuine = false;
        foreach (var secret in secrets.Where(each => each != ""))
        {
            var expected = Encoding.ASCII.GetBytes(Sign(secret, t + ".", body));
            foreach (var given in Regex.Split(match.Groups[2].Value, ",v1=").Skip(1))
            {
                genuine |= CryptographicOperations.FixedTimeEquals(expected, Encoding.ASCII.GetBytes(given));
            }
        }
        return genuine && Math.Abs(nowS - long.Parse(t)) <= ToleranceS;
    }

    static async Task<string> CreateDeposit(string baseUrl, string appId, string secret)
    {
        var url = new Uri(baseUrl + "/payment/deposit");
        var body = "{\"refId\":\"csharp-" + Guid.NewGuid() + "\",\"userId\":\"user-42\",\"amount\":250,"
            + "\"accountName\":\"Somchai Jaidee\",\"accountNo\":\"1234567890\",\"bankCode\":\"SCB\","
            + "\"timestamp\":\"" + DateTime.UtcNow.ToString("yyyy-MM-ddTHH:mm:ssZ") + "\"}";
        var t = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        var v1 = Sign(secret, t + ".POST " + url.AbsolutePath + ".", Encoding.UTF8.GetBytes(body));
        using (var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) })
        using (var request = new HttpRequestMessage(HttpMethod.Post, url))
        {
            request.Headers.Add("x-appid", appId);
            request.Headers.Add("x-signature", "t=" + t + ",v1=" + v1);
            request.Content = new StringContent(body, Encoding.UTF8, "application/json");
            var response = await client.SendAsync(request);
            var answer = await response.Content.ReadAsStringAsync();
            if (!response.IsSuccessStatusCode) throw new HttpRequestException(answer);
            return answer;
        }
    }

    static void TakeCallback(string[] secrets, HttpListenerContext context)
    {
        var body = ReadBody(context.Request.InputStream);
        var header = context.Request.Headers["x-signature"];
        var now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
        if (body == null || !IsGenuine(secrets, header, body, now))
        {
            Console.WriteLine("refused");
            Answer(context.Response, 401, "{\"code\":1,\"message\":\"not genuine\"}");
            return;
        }
        // It can come more than once: what counts is transactionId, status and successAt together. Read
        // them with System.Text.Json or the library of your choice.
        Console.WriteLine("verified " + Encoding.UTF8.GetString(body));
        Answer(context.Response, 200, "{\"code\":0}");
    }

    static byte[] ReadBody(Stream stream)
    {
        var buffer = new byte[MaxBodyBytes + 1];
        int length = 0, read;
        while ((read = stream.Read(buffer, length, buffer.Length - length)) > 0) length += read;
        return length > MaxBodyBytes ? null : buffer.Take(length).ToArray();
    }

    static void Answer(HttpListenerResponse response, int status, string text)
    {
        response.StatusCode = status;
        response.Close(Encoding.UTF8.GetBytes(text), true);
    }

    /// <summary>From vectors.txt, so that nothing but the standard library is needed.</summary>
    static void CheckVectors(string path)
    {
        var lines = File.ReadAllLines(path).Skip(1).ToArray();
        foreach (var line in lines)
        {
            var columns = line.Split('|');
            var secrets = columns[1].Split(',').Select(each => Encoding.UTF8.GetString(Convert.FromBase64String(each))).ToArray();
            var at = long.Parse(columns[2]);
            var prefix = at + "." + (columns[3] == "" ? "" : columns[3] + " " + columns[4] + ".");
            var header = columns[5];
            var body = Convert.FromBase64String(columns[6]);
            var made = "t=" + at + string.Concat(secrets.Select(secret => ",v1=" + Sign(secret, prefix, body)));
            var holds = columns[0] == "refused" ? !IsGenuine(secrets, header, body, at)
                : made == header && (columns[0] == "request" || IsGenuine(secrets, header, body, at));
            if (!holds) throw new Exception("vector failed: " + line);
        }
        Console.WriteLine("vectors " + lines.Length);
    }

    static string Env(string name) => Environment.GetEnvironmentVariable(name);

    public static void Main(string[] args)
    {
        if (args.Length == 2 && args[0] == "--vectors") CheckVectors(args[1]);
        else Run().GetAwaiter().GetResult();
    }

    static async Task Run()
    {
        var secrets = Env("SLUICE_SECRETS").Split(','); // newest first
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + Env("PORT") + "/");
        listener.Start();
        Console.WriteLine("created " + await CreateDeposit(Env("SLUICE_URL"), Env("SLUICE_APP_ID"), secrets[0]));
        while (true) TakeCallback(secrets, await listener.GetContextAsync());
    }
}
