<?php
/**
 * Creates a deposit with Sluice and takes its callback. PHP 8.1 or newer, no packages.
 *
 *   php -S 127.0.0.1:3000 agent.php     takes callbacks
 *   php agent.php                       creates a deposit
 */
declare(strict_types=1);

const TOLERANCE_S = 300;
const MAX_BODY_BYTES = 65_536;

function sign(string $secret, string $prefix, string $body): string
{
    return hash_hmac('sha256', $prefix . $body, $secret);
}

/** $body is what came over the wire, not what a parser made of it. */
function isGenuine(array $secrets, string $header, string $body, int $nowS): bool
{
    if (!preg_match('/\At=([1-9][0-9]{0,11})((?:,v1=[0-9a-f]{64}){1,4})\z/', $header, $match)) {
        return false;
    }
    [, $t, $signatures] = $match;
    $genuine = false;
    foreach (array_filter($secrets, fn($secret) => $secret !== '') as $secret) {
        $expected = sign($secret, "$t.", $body);
        foreach (array_slice(explode(',v1=', $signatures), 1) as $given) {
            $genuine = hash_equals($expected, $given) || $genuine;
        }
    }
    return $genuine && abs($nowS - (int) $t) <= TOLERANCE_S;
}

function createDeposit(string $baseUrl, string $appId, string $secret): array
{
    $url = "$baseUrl/payment/deposit";
    $body = json_encode([
        'refId' => 'php-' . bin2hex(random_bytes(8)),
        'userId' => 'user-42',
        'amount' => 250,
        'accountName' => 'Somchai Jaidee',
        'accountNo' => '1234567890',
        'bankCode' => 'SCB',
        'timestamp' => gmdate('Y-m-d\TH:i:s\Z'),
    ], JSON_THROW_ON_ERROR);
    $t = time();
    $v1 = sign($secret, "$t.POST " . parse_url($url, PHP_URL_PATH) . '.', $body);
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => ["content-type: application/json", "x-appid: $appId", "x-signature: t=$t,v1=$v1"],
        'content' => $body,
        'timeout' => 10,
    ]]);
    $answer = file_get_contents($url, false, $context);
    if ($answer === false) {
        throw new RuntimeException('there is no order');
    }
    return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
}

function takeCallback(array $secrets): void
{
    $body = file_get_contents('php://input', length: MAX_BODY_BYTES);
    if (!isGenuine($secrets, $_SERVER['HTTP_X_SIGNATURE'] ?? '', $body, time())) {
        error_log('refused');
        http_response_code(401);
        echo '{"code":1,"message":"not genuine"}';
        return;
    }
    // It can come more than once: what counts is transactionId, status and successAt together.
    $callback = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    error_log("verified $callback[refId] $callback[status] $callback[amount]");
    echo '{"code":0}';
}

function checkVectors(string $path): void
{
    $vectors = json_decode(file_get_contents($path), true, flags: JSON_THROW_ON_ERROR);
    $expect = fn(bool $isTrue, array $vector) => $isTrue || exit("vector failed: $vector[name]\n");
    foreach ($vectors['signed'] as $vector) {
        ['kind' => $kind, 'secrets' => $secrets, 't' => $t, 'body' => $body, 'header' => $header] = $vector;
        $prefix = $kind === 'request' ? "$t.$vector[method] $vector[path]." : "$t.";
        $made = array_map(fn($secret) => 'v1=' . sign($secret, $prefix, $body), $secrets);
        $expect("t=$t," . implode(',', $made) === $header, $vector);
        $expect($kind === 'request' || isGenuine($secrets, $header, $body, (int) $t), $vector);
    }
    // What is genuine and no callback is for whoever reads the body to see.
    $forged = array_filter($vectors['refused'], fn($vector) => $vector['reason'] !== 'body_malformed');
    foreach ($forged as $vector) {
        ['secrets' => $secrets, 'header' => $header, 'body' => $body, 'now' => $now] = $vector;
        $expect(!isGenuine($secrets, $header, $body, strtotime($now)), $vector);
    }
    echo 'vectors ', count($vectors['signed']) + count($forged), "\n";
}

$secrets = explode(',', getenv('SLUICE_SECRETS') ?: ''); // newest first
if (PHP_SAPI !== 'cli') {
    takeCallback($secrets);
} elseif (($argv[1] ?? '') === '--vectors') {
    checkVectors($argv[2]);
} else {
    $order = createDeposit(getenv('SLUICE_URL'), getenv('SLUICE_APP_ID'), $secrets[0]);
    echo "created $order[txn_id] $order[link]\n";
}
