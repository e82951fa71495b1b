// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalWallet} from "LocalWallet.sol";


/// Deploys wallets at addresses that are known before (ERC-6492): one for each owner. Deploying one twice changes nothing.
contract LocalWalletFactory {
    function walletOf(address owner) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(LocalWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }

    function deploy(address owner) external returns (address wallet) {
        wallet = walletOf(owner);
        if (wallet.code.length == 0) new LocalWallet{salt: 0}(owner);
    }
}
