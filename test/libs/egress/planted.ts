/** What must never get outside in a provider's message, and the message without it. */
import { sanitise } from "#egress"

export const own = { secrets: ["correct-horse-battery"], names: ["acme-west", "models.acme.example", "acme-large-2"] }
export const clean = (text: string) => sanitise(text, own) ?? ""

/** Texts that must never get outside, each in a provider's form. */
export const planted = [
  "correct-horse-battery",
  "sk-proj-abcDEF123456ghiJKL",
  "sk-ant-api03-abcdefghijk",
  "sk-...wxyz",
  "gsk_8a7b6c5d4e3f2a1b",
  "AKIAIOSFODNN7EXAMPLE",
  "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  "0123456789abcdef0123456789abcdef",
  "https://api.acme.example/v1/chat?key=abc",
  "wss://10.1.2.3:8443/stream",
  "http://user:pass@proxy.internal:3128/",
  "llm-7.prod.svc.cluster.local",
  "gateway.us-east-1.amazonaws.com:443",
  "localhost:8000",
  "worker-3:9090",
  "10.42.0.17",
  "192.168.1.20:5000",
  "2001:db8:85a3::8a2e:370:7334",
  "fe80::1%eth0",
  "::ffff:10.0.0.1",
  "org-AbCdEf123456",
  "req_011CSHoEeqs5C35K2UUqR7Fy",
  "ops@acme.example",
  "acme-west",
  "models.acme.example",
  "acme-large-2",
  "OpenRouter",
  "nginx",
  "Azure"
] as const
