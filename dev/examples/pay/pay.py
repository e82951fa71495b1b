"""OpenAI's client, paying by x402: python pay.py "Why is the sky blue?"."""

import asyncio
import os
import sys

from eth_account import Account
from openai import AsyncOpenAI
from x402 import x402Client
from x402.http.clients import wrapHttpxWithPayment
from x402.mechanisms.evm.batch_settlement.client import (
    BatchSettlementEvmScheme,
    BatchSettlementEvmSchemeOptions,
    FileChannelStorageOptions,
    FileClientChannelStorage,
)
from x402.mechanisms.evm.exact import ExactEvmScheme
from x402.mechanisms.evm.signers import EthAccountSignerWithRPC
from x402.mechanisms.evm.upto import UptoEvmScheme

wallet = Account.from_key(os.environ["WALLET_KEY"])
signer = EthAccountSignerWithRPC(wallet, os.environ["RPC_URL"])
storage = FileClientChannelStorage(FileChannelStorageOptions(directory="channels"))


def choose(version, offers):
    """The gateway's first offer, or that of a scheme: "exact", "upto" or "batch-settlement"."""
    return next((offer for offer in offers if offer.scheme == os.environ.get("SCHEME")), offers[0])


client = x402Client(choose)
client.register("eip155:*", ExactEvmScheme(signer))
client.register("eip155:*", UptoEvmScheme(signer))
client.register("eip155:*", BatchSettlementEvmScheme(signer, BatchSettlementEvmSchemeOptions(storage=storage)))


async def main():
    async with wrapHttpxWithPayment(client, timeout=600) as http:
        openai = AsyncOpenAI(base_url=f"{os.environ['GATEWAY']}/v1", api_key="none", http_client=http)
        stream = await openai.chat.completions.create(
            model=os.environ.get("MODEL", "demo/echo"),
            max_tokens=256,
            messages=[{"role": "user", "content": sys.argv[1]}],
            stream=True,
        )
        async for chunk in stream:
            print(chunk.choices[0].delta.content or "" if chunk.choices else "", end="", flush=True)


asyncio.run(main())
