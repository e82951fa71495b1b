// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalDollar} from "LocalDollar.sol";

/// The same token under the name that the real one has on most chains: payers sign another text for it.
contract LocalCoin is LocalDollar {
    function name() public pure override returns (string memory) {
        return "USD Coin";
    }
}
